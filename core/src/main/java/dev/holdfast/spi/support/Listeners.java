package dev.holdfast.spi.support;

import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Signal;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners of a store that pushes signals. What one of them throws is logged and does not affect the others.
 * Thread-safe.
 */
public final class Listeners implements Consumer<Signal> {

    private static final Logger LOG = LoggerFactory.getLogger(Listeners.class);

    /** In the order of their registration. */
    private final List<Registration> present = new CopyOnWriteArrayList<>();

    /** Without listeners. */
    public Listeners() {}

    /** Adds a listener, as {@link LockStore#subscribe} does. One that is added twice is notified twice. */
    public LockStore.Subscription add(Consumer<Signal> listener) {
        Registration added = new Registration(listener);
        present.add(added);
        return added;
    }

    /** Whether there are no listeners. */
    public boolean isEmpty() {
        return present.isEmpty();
    }

    /** Removes all. */
    public void clear() {
        present.clear();
    }

    /** Notifies all listeners, one after another. Never throws. */
    @Override
    public void accept(Signal signal) {
        for (Registration one : present) {
            try {
                one.listener.accept(signal);
            } catch (Throwable t) {
                LOG.error("a signal listener failed on {}", signal, t);
            }
        }
    }

    /** Compared by identity, so that each is removed by its own subscription. */
    private final class Registration implements LockStore.Subscription {
        private final Consumer<Signal> listener;

        Registration(Consumer<Signal> listener) {
            this.listener = listener;
        }

        @Override
        public void close() {
            present.remove(this);
        }
    }
}
