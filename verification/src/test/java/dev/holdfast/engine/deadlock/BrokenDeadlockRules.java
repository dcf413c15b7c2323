package dev.holdfast.engine.deadlock;

import dev.holdfast.testkit.sim.WaitsRun.Flaw;
import dev.holdfast.testkit.sim.WaitsRun.Profile;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Searches for deadlocks with one flaw each, which the simulation must find out, or else {@link DeadlockHistoriesTest}.
 * That a node which is reached twice is not a cycle is checked by {@link CycleSearchTest}.
 */
public enum BrokenDeadlockRules {
    NO_CONFIRMATION(true, () -> new DeadlockRules() {
        @Override
        public boolean isConfirmed(Set<Long> acks, Set<Long> others, long before) {
            return true;
        }

        @Override
        public boolean isConfirmedHere(boolean isNew) {
            return true;
        }
    }),
    SECOND_READ_OF_UNCHANGED_ANNOTATIONS(true, () -> new DeadlockRules() {
        private final Map<Set<Long>, Object> before = new HashMap<>();

        @Override
        public boolean isConfirmed(Set<Long> acks, Set<Long> others, long id) {
            return true;
        }

        @Override
        public Set<Long> acknowledged(Set<Long> component, long id) {
            return Set.of();
        }

        @Override
        public boolean mayReport(Set<Long> ids, Object annotations) {
            return annotations.equals(before.put(ids, annotations));
        }
    }),
    ONE_ACK_IS_ENOUGH(true, () -> new DeadlockRules() {
        @Override
        public boolean isConfirmed(Set<Long> acks, Set<Long> others, long before) {
            return acks.stream().anyMatch(others::contains);
        }
    }),
    ONLY_THE_MEMBER_BEFORE_IS_ACKNOWLEDGED(true, () -> new DeadlockRules() {
        @Override
        public Set<Long> acknowledged(Set<Long> component, long before) {
            return Set.of(before);
        }

        @Override
        public boolean isConfirmed(Set<Long> acks, Set<Long> others, long before) {
            return acks.contains(before);
        }
    }),
    IDS_NAME_THREADS(true, () -> new DeadlockRules() {
        @Override
        public long newId(Object thread, long random) {
            return thread.toString().hashCode();
        }
    }),
    TABLES_READ_FIRST(true, () -> new DeadlockRules() {
        @Override
        public boolean readsTablesLast() {
            return false;
        }
    }),
    WRITERS_INSPECTED_FIRST(true, () -> new DeadlockRules() {
        @Override
        public boolean inspectsWritersLast() {
            return false;
        }
    }),
    READERS_BLOCK_READERS(true, () -> new DeadlockRules() {
        @Override
        public boolean blocks(boolean isWaitExclusive, boolean isWriteHold) {
            return true;
        }
    }),
    LEASES_ARE_EDGES(true, () -> new DeadlockRules() {
        @Override
        public boolean isStated(boolean isOwned, boolean hasOwnLease, boolean isLive) {
            return isOwned && isLive;
        }
    }),
    LOST_HOLDS_ARE_STATED(true, () -> new DeadlockRules() {
        @Override
        public boolean isStated(boolean isOwned, boolean hasOwnLease, boolean isLive) {
            return isOwned && !hasOwnLease;
        }
    }),
    READERS_BEHIND_WRITERS_ARE_IGNORED(false, () -> new DeadlockRules() {
        @Override
        public boolean countsWriterBefore(boolean wasFound) {
            return false;
        }
    }),
    ONLY_ONE_PASS(false, () -> new DeadlockRules() {
        @Override
        public long pauseNanos(long youngestNanos, long ttlNanos) {
            return NEVER;
        }

        @Override
        public long pauseAfterNewsNanos() {
            return NEVER;
        }

        @Override
        public long pauseUnconfirmedNanos(int passes) {
            return NEVER;
        }
    }),
    ONLY_CYCLES_OF_TWO(false, () -> new DeadlockRules() {
        @Override
        public boolean isSearched(int members) {
            return members == 2;
        }
    }),
    ONLY_THE_STORE_KNOWS_WHO_IS_AWAITED(false, () -> new DeadlockRules() {
        @Override
        public boolean isAwaited(boolean isAwaitedHere, boolean isAwaitedAtStore, boolean isSharedGrant) {
            return isAwaitedAtStore || isSharedGrant;
        }
    }),
    SHARED_GRANTS_ARE_NOT_ALWAYS_AWAITED(false, () -> new DeadlockRules() {
        @Override
        public boolean isAwaited(boolean isAwaitedHere, boolean isAwaitedAtStore, boolean isSharedGrant) {
            return isAwaitedHere || isAwaitedAtStore;
        }
    }),
    ONLY_THE_HEAD_OF_A_QUEUE_IS_STATED(false, () -> new DeadlockRules() {
        @Override
        public boolean isStatedBehindOthers() {
            return false;
        }
    }),
    UNOWNED_HOLDS_ARE_STATED(true, () -> new DeadlockRules() {
        @Override
        public boolean isStated(boolean isOwned, boolean hasOwnLease, boolean isLive) {
            return !hasOwnLease && isLive;
        }
    }),
    HOLDS_BELONG_TO_PROCESSES(true, Flaw.HOLDS_BELONG_TO_PROCESSES),
    ANNOTATIONS_HAVE_NO_ORDER(true, Flaw.ANNOTATIONS_HAVE_NO_ORDER);

    private static final long NEVER = Long.MAX_VALUE / 4;

    private final boolean isFalseAlarm;
    private final Flaw flaw;
    private final Supplier<DeadlockRules> rules;

    BrokenDeadlockRules(boolean isFalseAlarm, Supplier<DeadlockRules> rules) {
        this.isFalseAlarm = isFalseAlarm;
        this.flaw = Flaw.NONE;
        this.rules = rules;
    }

    BrokenDeadlockRules(boolean isFalseAlarm, Flaw flaw) {
        this.isFalseAlarm = isFalseAlarm;
        this.flaw = flaw;
        this.rules = DeadlockRules::new;
    }

    /** Those that seeds rarely find out, because too much must coincide: {@link DeadlockHistoriesTest} does. */
    public static Set<BrokenDeadlockRules> shownByHistories() {
        return EnumSet.of(
                ONE_ACK_IS_ENOUGH, ONLY_THE_MEMBER_BEFORE_IS_ACKNOWLEDGED, TABLES_READ_FIRST, WRITERS_INSPECTED_FIRST);
    }

    /** All others, which the simulation finds out. */
    public static Set<BrokenDeadlockRules> shownBySeeds() {
        Set<BrokenDeadlockRules> others = EnumSet.allOf(BrokenDeadlockRules.class);
        others.removeAll(shownByHistories());
        return others;
    }

    /** Whether it shows by a false alarm, and otherwise by a missed deadlock. */
    public boolean isFalseAlarm() {
        return isFalseAlarm;
    }

    /** What a run found that shows it; empty if nothing does. */
    public String shownBy(List<String> falseAlarms, List<String> missed) {
        List<String> found = isFalseAlarm ? falseAlarms : missed;
        return found.isEmpty() ? "" : (isFalseAlarm ? "" : "missed: ") + found.get(0);
    }

    /** What is wrong apart from the rules. */
    public Flaw flaw() {
        return flaw;
    }

    /** The runs that show it. */
    public List<Profile> profiles() {
        return isFalseAlarm ? List.of(Profile.FAULTY, Profile.STRESS) : List.of(Profile.CALM);
    }

    /** Fresh rules. */
    public DeadlockRules rules() {
        return rules.get();
    }
}
