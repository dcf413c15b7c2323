package dev.holdfast.store.sql;

import dev.holdfast.spi.Signal;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whom the store tells. Whoever has a signal delivers what there is, unless somebody is at it: the listener gets one after another, and when it sends commands
 * itself, their signals come after it has returned.
 */
final class Listener implements Consumer<Signal> {

    private final Queue<Signal> mail = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean delivering = new AtomicBoolean();
    private volatile @Nullable Consumer<Signal> listener;

    void subscribe(Consumer<Signal> told) {
        listener = told;
    }

    void unsubscribe() {
        listener = null;
    }

    @Override
    public void accept(Signal signal) {
        mail.add(signal);
        // Who adds looks at the flag afterwards, and who lowers the flag looks at the mail afterwards: none is left
        // behind.
        while (!mail.isEmpty() && delivering.compareAndSet(false, true)) {
            try {
                for (Signal next = mail.poll(); next != null; next = mail.poll()) {
                    tell(next);
                }
            } finally {
                delivering.set(false);
            }
        }
    }

    private void tell(Signal signal) {
        Consumer<Signal> told = listener;
        if (told != null) {
            try {
                told.accept(signal);
            } catch (RuntimeException e) {
                // The command that led to this signal has succeeded, whoever sent it: this is not the place to throw.
                Thread thread = Thread.currentThread();
                thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            }
        }
    }
}
