package dev.holdfast.spi.support;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * A store that passes everything on to another one; subclasses override what they change. The form of {@code execute}
 * with a time-out calls the one without, so to override that one is enough.
 *
 * <p><b>Thread-safety:</b> that of the other store.
 */
public abstract class ForwardingStore implements LockStore {

    private final LockStore store;

    protected ForwardingStore(LockStore store) {
        this.store = store;
    }

    /** The other store. */
    protected final LockStore store() {
        return store;
    }

    @Override
    public StoreTraits traits() {
        return store.traits();
    }

    @Override
    public int partitions() {
        return store.partitions();
    }

    @Override
    public int partitionOf(ResourceName name) {
        return store.partitionOf(name);
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return store.execute(command, caller);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return store.subscribe(listener);
    }

    @Override
    public void close() {
        store.close();
    }
}
