package dev.holdfast.store.ledger.runtime;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.Listeners;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Delivers the signals of a store to its subscribers. A thread with a signal delivers all that there are, unless
 * another one is at it: subscribers get one after another, and when one sends commands itself, their signals come after
 * it has returned.
 */
public final class SignalDispatcher implements Consumer<Signal> {

    private final Queue<Signal> mail = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean delivering = new AtomicBoolean();
    private final Listeners listeners = new Listeners();

    public LockStore.Subscription subscribe(Consumer<Signal> told) {
        return listeners.add(told);
    }

    public void unsubscribe() {
        listeners.clear();
    }

    @Override
    public void accept(Signal signal) {
        mail.add(signal);
        // Who adds looks at the flag afterwards, and who lowers the flag looks at the mail afterwards: none is left
        // behind.
        while (!mail.isEmpty() && delivering.compareAndSet(false, true)) {
            try {
                for (Signal next = mail.poll(); next != null; next = mail.poll()) {
                    listeners.accept(next);
                }
            } finally {
                delivering.set(false);
            }
        }
    }
}
