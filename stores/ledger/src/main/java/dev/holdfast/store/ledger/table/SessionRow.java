package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.SessionId;

/** The row of a session. */
public final class SessionRow {

    /** The epoch of a retired or ended session, above that of every command. */
    public static final long RETIRED = Long.MAX_VALUE;

    public final long id;

    /** The store instance that opened it and is notified of its events. */
    public final long client;

    public final long ttl;
    public final String label;

    /** Only increases. */
    public long epoch;

    /**
     * In microseconds of the store's clock; 0 once the session has ended and its row is kept only for detached grants.
     */
    public long deadline;

    /** Whether it was found alive in this transaction. */
    public boolean isWitnessed;

    public SessionRow(long id, long client, long ttl, String label, long epoch, long deadline) {
        this.id = id;
        this.client = client;
        this.ttl = ttl;
        this.label = label;
        this.epoch = epoch;
        this.deadline = deadline;
    }

    public boolean hasEnded() {
        return deadline == 0;
    }

    /** The public form of an id. */
    public static SessionId idOf(long id) {
        return new SessionId("s" + Long.toHexString(id));
    }

    /** The number in an id; 0, which no session has, if the id is not from this store. */
    public static long numberOf(SessionId id) {
        String text = id.value();
        if (text.length() < 2 || text.length() > 17 || text.charAt(0) != 's') {
            return 0;
        }
        long number = 0;
        for (int i = 1; i < text.length(); i++) {
            int digit = Character.digit(text.charAt(i), 16);
            if (digit < 0) {
                return 0;
            }
            number = number << 4 | digit;
        }
        return number;
    }
}
