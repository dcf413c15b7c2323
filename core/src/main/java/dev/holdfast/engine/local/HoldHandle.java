package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.CallerMode;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A hold as the engine uses it; each hold of this client on one name is one. */
public interface HoldHandle extends Hold {

    /** The same hold. */
    static HoldHandle of(Hold hold) {
        return (HoldHandle) hold;
    }

    /**
     * As {@link #onLost}, for a reaction of the engine: it runs before any listener, on the thread that finds the loss,
     * so it never waits for users' code. It must neither block nor call users' code.
     */
    void whenLost(Consumer<Loss> reaction);

    /** As {@link #releaseAsync()}, for the engine: completed on the thread that finds the end. */
    CompletableFuture<ReleaseOutcome> giveBack(CallerMode caller);
}
