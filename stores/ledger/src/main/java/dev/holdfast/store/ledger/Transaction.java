package dev.holdfast.store.ledger;

import dev.holdfast.spi.Signal;
import java.util.ArrayList;
import java.util.List;

/**
 * What all who work on one transaction have in common: its time, whether it may write, and what is to be told once it
 * is committed.
 *
 * <p>Not thread-safe; one object serves one transaction after another.
 */
public final class Transaction {

    /** Thrown where a look finds something to write: the command is then carried out in a transaction that may. */
    public static final class Due extends RuntimeException {
        private static final long serialVersionUID = 1L;

        // Without a stack trace, which would cost more than the look.
        private Due() {
            super("there is something to write", null, false, false);
        }
    }

    /** A signal, and the store instance that it is for. */
    public record Notification(long client, Signal signal) {}

    private final StoreClock clock;
    private final List<Notification> told = new ArrayList<>();
    private boolean mayWrite;
    private long now;
    private long unix;

    public Transaction(StoreClock clock) {
        this.clock = clock;
    }

    public void begin(boolean writing) {
        told.clear();
        now = clock.nowMicros();
        unix = clock.unixMicros();
        mayWrite = writing;
    }

    /** Its moment, by the clock of leases. */
    public long now() {
        return now;
    }

    /** Its moment, by the clock of tokens. */
    public long unix() {
        return unix;
    }

    /** To be called before anything is written. */
    void mustWrite() {
        if (!mayWrite) {
            throw new Due();
        }
    }

    public void tell(long client, Signal signal) {
        told.add(new Notification(client, signal));
    }

    public List<Notification> told() {
        return List.copyOf(told);
    }
}
