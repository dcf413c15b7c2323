package com.example.store;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.store.memory.ReferenceStore;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** A store that leaves it to the reference to keep the rules. */
public final class OurStore implements LockStore {

    private final ReferenceStore reference;

    /** A new, empty store. */
    public OurStore(LongSupplier unixMicros) {
        this(new ReferenceStore(unixMicros));
    }

    private OurStore(ReferenceStore reference) {
        this.reference = reference;
    }

    /** Another client's connection to this store. */
    public OurStore connect() {
        return new OurStore(reference.connect());
    }

    @Override
    public StoreTraits traits() {
        return reference.traits();
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return reference.execute(command, caller);
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return reference.subscribe(listener);
    }

    @Override
    public void close() {
        reference.close();
    }
}
