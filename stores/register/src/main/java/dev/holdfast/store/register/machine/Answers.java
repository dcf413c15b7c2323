package dev.holdfast.store.register.machine;

import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Refusals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes the answers of commands about claims, without changing the state. */
final class Answers {

    static final Answer STALE = Answer.of(new Reply.Stale());
    static final Answer SESSION_ENDED = Answer.of(new Reply.SessionEnded());
    static final Answer ABSENT = Answer.of(new Reply.Absent());
    static final Answer DONE = Answer.of(new Reply.Done());
    static final Answer RELEASED = Answer.of(new Reply.Released());

    private Answers() {}

    static Answer granted(Moves moves, ClaimEntry claim) {
        long first = claim.first;
        long last = claim.last;
        boolean awaited = moves.isAwaited();
        if (!claim.hasOwnLease()) {
            return base -> new Reply.Granted(block(base, first, last), Optional.empty(), awaited);
        }
        Left left = ownLeaseLeft(moves.facts, claim, moves.facts.latest());
        return base -> new Reply.Granted(block(base, first, last), Optional.of(left.now()), awaited);
    }

    static Answer advanced(Moves moves, ClaimEntry grant) {
        long first = grant.first;
        long last = grant.last;
        boolean awaited = moves.isAwaited();
        return base -> new Reply.Advanced(block(base, first, last), awaited);
    }

    static Answer extended(Moves moves, ClaimEntry grant) {
        long seq = grant.extension;
        Left left = ownLeaseLeft(moves.facts, grant, moves.facts.latest());
        return base -> new Reply.Extended(seq, left.now());
    }

    static TokenBlock block(long base, long first, long last) {
        return new TokenBlock(base + first, base + last);
    }

    /** The remaining time at the moment of the answer. */
    @FunctionalInterface
    private interface Left {
        Duration now();
    }

    /** @param now the latest time for its holder; the earliest for those that wait until it is over for certain */
    private static Left ownLeaseLeft(Facts facts, ClaimEntry claim, long now) {
        if (!claim.pickedUp) {
            return claim.lease::length;
        }
        SessionId lease = claim.leaseId;
        if (lease != null) {
            facts.needsRemaining(lease);
            return () -> atLeastOne(facts.remaining(lease));
        }
        Duration left = atLeastOne(Micros.duration(claim.endsAt - now));
        // The writer counted from its latest time, which may be later than what this client takes for the present.
        Duration shown = claim.extension == 0 ? least(left, claim.lease.length()) : left;
        return () -> shown;
    }

    /** The remaining time of a claim without a renewal or an extension. */
    private static Left leftInAll(Facts facts, ClaimEntry claim) {
        if (claim.outlivesSession()) {
            return ownLeaseLeft(facts, claim, facts.earliest());
        }
        SessionId session = claim.session.id();
        facts.needsRemaining(session);
        if (!claim.hasOwnLease() || !claim.pickedUp) {
            return () -> atLeastOne(facts.remaining(session));
        }
        Left own = ownLeaseLeft(facts, claim, facts.earliest());
        return () -> least(own.now(), atLeastOne(facts.remaining(session)));
    }

    private static Duration atLeastOne(Duration left) {
        Duration shortest = Micros.duration(1);
        return left.compareTo(shortest) < 0 ? shortest : left;
    }

    private static Duration least(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? a : b;
    }

    /** How many holders count for the time at which the next one may end. */
    private static final int MOST_HOLDERS = 16;

    static Answer queued(Moves moves, ClaimEntry waiter) {
        List<Left> inTheWay = new ArrayList<>();
        moves.state.grants.values().stream()
                .limit(MOST_HOLDERS)
                .forEach(grant -> inTheWay.add(leftInAll(moves.facts, grant)));
        // Of the waiters before it only the head: while that waits, the end of another one grants nothing.
        ClaimEntry head = moves.state.queue.values().iterator().next();
        if (head != waiter) {
            inTheWay.add(leftInAll(moves.facts, head));
        }
        Duration most = Micros.duration(Math.max(1, waiter.session.ttlMicros() / 3));
        return base -> {
            Duration recheck = most;
            for (Left left : inTheWay) {
                recheck = least(recheck, left.now());
            }
            return new Reply.Queued(recheck);
        };
    }

    static Answer full() {
        return Answer.of(new Reply.Refused(
                Refusal.EXHAUSTED,
                "its record on this store has no room for more holders and waiters; use fewer "
                        + "processes, or another store"));
    }

    /** Refuses a try, with the holder in the words of the user's message. */
    static Answer taken(ResourceState state) {
        for (ClaimEntry grant : state.grants.values()) {
            if (grant.weight > 0) {
                String label = grant.session.label();
                long last = grant.last;
                return base -> Refusals.heldBy(label, base + last);
            }
        }
        return Answer.of(state.isCounting() ? Refusals.LATCH_CLOSED : Refusals.OTHERS_WAIT);
    }

    static Answer count(@Nullable LatchState latch) {
        return Answer.of(latch == null ? new Reply.Count(0, 0) : new Reply.Count(latch.generation, latch.remaining));
    }
}
