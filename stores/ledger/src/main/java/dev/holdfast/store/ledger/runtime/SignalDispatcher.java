package dev.holdfast.store.ledger.runtime;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.Listeners;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Delivers the signals of a store to its subscribers. A thread that adds a signal delivers all pending ones, unless
 * another thread is already delivering. So subscribers get one signal at a time, and signals caused by commands of a
 * subscriber come after it has returned.
 */
public final class SignalDispatcher implements Consumer<Signal> {

    private final Queue<Signal> mail = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean delivering = new AtomicBoolean();
    private final Listeners listeners = new Listeners();

    public LockStore.Subscription subscribe(Consumer<Signal> subscriber) {
        return listeners.add(subscriber);
    }

    public void unsubscribe() {
        listeners.clear();
    }

    @Override
    public void accept(Signal signal) {
        mail.add(signal);
        // A thread adds its signal before it reads the flag, and clears the flag before it reads the queue again, so no
        // signal is left behind.
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
