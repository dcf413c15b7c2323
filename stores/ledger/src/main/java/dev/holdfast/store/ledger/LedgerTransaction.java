package dev.holdfast.store.ledger;

import dev.holdfast.spi.Signal;
import java.util.ArrayList;
import java.util.List;

/**
 * The shared state of one transaction: its time, whether it may write, and the notifications to deliver after the
 * commit.
 *
 * <p>Not thread-safe; one object serves one transaction after another.
 */
public final class LedgerTransaction {

    /**
     * Thrown when a read-only attempt finds something to write: the command is then executed in a transaction that may.
     */
    public static final class Due extends RuntimeException {
        private static final long serialVersionUID = 1L;

        // No stack trace, which would cost more than the attempt.
        private Due() {
            super("there is something to write", null, false, false);
        }
    }

    /** A signal and the store instance to deliver it to. */
    public record Notification(long client, Signal signal) {}

    private final StoreClock clock;
    private final List<Notification> notifications = new ArrayList<>();
    private boolean mayWrite;
    private long now;
    private long unix;

    public LedgerTransaction(StoreClock clock) {
        this.clock = clock;
    }

    public void begin(boolean writing) {
        notifications.clear();
        now = clock.nowMicros();
        unix = clock.unixMicros();
        mayWrite = writing;
    }

    /** The transaction's time, by the clock of leases. */
    public long now() {
        return now;
    }

    /** The transaction's time, by the clock of tokens. */
    public long unix() {
        return unix;
    }

    /** To be called before anything is written. */
    void mustWrite() {
        if (!mayWrite) {
            throw new Due();
        }
    }

    public void addNotification(long client, Signal signal) {
        notifications.add(new Notification(client, signal));
    }

    public List<Notification> notifications() {
        return List.copyOf(notifications);
    }
}
