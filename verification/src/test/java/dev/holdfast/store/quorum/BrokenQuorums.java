package dev.holdfast.store.quorum;

import dev.holdfast.Environment;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.List;

/** Quorums that keep all rules but one, and one that keeps them all. */
public enum BrokenQuorums {
    /** Breaks nothing. */
    SOUND(new QuorumRules()),

    /** Gives tokens before a majority stands at them. */
    TOKENS_NOT_WRITTEN_BACK(new QuorumRules() {
        @Override
        boolean writesTokensBack() {
            return false;
        }
    }),

    /** Is content with a majority of the members that it could reach. */
    MAJORITY_OF_THE_REACHED(new QuorumRules() {
        @Override
        int majority(int all, int reached) {
            return Math.max(1, Math.min(all, reached) / 2 + 1);
        }
    }),

    /** Takes back members that have lost their data at once; and claims nothing again, for that hides it. */
    NO_KEEP_OUT(new QuorumRules() {
        @Override
        boolean repairs() {
            return false;
        }

        @Override
        Duration keptOut(Duration longestLease) {
            return Duration.ZERO;
        }
    }),

    /** Releases at members that are known to hold, and nowhere else. */
    ONLY_THE_KNOWN_RELEASED(new QuorumRules() {
        @Override
        boolean settlesUnknown() {
            return false;
        }
    }),

    /** Asks members that come back for nothing. */
    NOTHING_REGAINED(new QuorumRules() {
        @Override
        boolean repairs() {
            return false;
        }
    }),

    /** Counts recovered members regardless of their tokens. */
    REGAINED_WITH_LESSER_TOKENS(new QuorumRules() {
        @Override
        boolean raisesRepaired() {
            return false;
        }
    }),

    /** Counts members that have come back for a hold, though they have granted it to another. */
    REGAINED_AGAINST_OTHERS(new QuorumRules() {
        @Override
        boolean heedsRefusals() {
            return false;
        }
    }),

    /** Counts members whose sessions were renewed long before the client's deadline began. */
    VALIDITY_UNCHECKED(new QuorumRules() {
        @Override
        boolean repairs() {
            return false;
        }

        @Override
        boolean counts(long renewedAt, long confirmedSince) {
            return true;
        }
    });

    private final QuorumRules rules;

    BrokenQuorums(QuorumRules rules) {
        this.rules = rules;
    }

    /** A quorum of some members that keeps these rules. */
    public QuorumStore of(
            List<? extends LockStore> members, Environment environment, Duration answerWithin, Duration longestLease) {
        QuorumStore.Builder builder = QuorumStore.builder()
                .environment(environment)
                .answerWithin(answerWithin)
                .longestLease(longestLease)
                .rules(rules);
        members.forEach(builder::member);
        return builder.open();
    }
}
