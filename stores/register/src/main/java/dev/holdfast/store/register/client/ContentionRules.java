package dev.holdfast.store.register.client;

/*
 * Clients that write one record compete, and one that is far from the server loses to those near it. Each of these
 * decisions keeps such a client from waiting for ever. None of them matters for exclusion, because the server rejects
 * a write on an outdated record.
 *
 * Stateless. The class is open so that tests can break one rule at a time and check that the simulation detects it;
 * production uses the rules unchanged.
 */

/** The decisions that give each client of a record its turn. */
class ContentionRules {

    /** A claim is announced after this many lost writes: its client is too slow or too far away to compete. */
    private static final int MOST_LOST_WRITES = 2;

    /** How many reads show the same first arrival before another client acts for that one. */
    private static final int MOST_READS_OF_FIRST = 4;

    /** Whether a round has lost to other clients too often to compete further: it announces its claims. */
    boolean hasLost(int lostWrites) {
        return lostWrites >= MOST_LOST_WRITES;
    }

    /** Whether an announcement notifies the clients that write next. */
    boolean notifiesWriters() {
        return true;
    }

    /** Whether a write adds the claims of which its client was notified. */
    boolean addsNoticed() {
        return true;
    }

    /** Whether a client that was notified of the claims of others announces its own instead of competing. */
    boolean makesWay() {
        return true;
    }

    /** Whether the arrivals are left to the client of the first one, which may have died. */
    boolean leavesArrivalsToFirst(int reads) {
        return reads < MOST_READS_OF_FIRST;
    }
}
