package dev.holdfast.benchmarks.contestant.holdfast;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.store.memory.ReferenceStore;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Grants everything and keeps nothing, so that the heap is that of the client. Locks nothing. */
public final class BlankStore implements LockStore {

    private final StoreTraits traits;
    private final AtomicLong tokens = new AtomicLong();

    public BlankStore() {
        try (ReferenceStore memory = new ReferenceStore()) {
            traits = memory.traits();
        }
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        return CompletableFuture.completedFuture(answer(command));
    }

    private Reply answer(Command command) {
        if (command instanceof Command.OpenSession open) {
            return new Reply.SessionOpened(new SessionId("blank"), open.ttl());
        } else if (command instanceof Command.KeepAlive) {
            return new Reply.SessionAlive();
        } else if (command instanceof Command.Acquire) {
            long token = tokens.incrementAndGet();
            return new Reply.Granted(new TokenBlock(token, token), Optional.empty(), false);
        } else if (command instanceof Command.Release) {
            return new Reply.Released();
        } else if (command instanceof Command.CloseSession) {
            return new Reply.Done();
        }
        return new Reply.Unsupported("a store that keeps nothing");
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return () -> {};
    }

    @Override
    public void close() {}
}
