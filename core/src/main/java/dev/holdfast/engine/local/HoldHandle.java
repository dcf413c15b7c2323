package dev.holdfast.engine.local;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.CallerMode;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A hold as the engine itself uses it: every hold of this client on one name is one. */
public interface HoldHandle extends Hold {

    /** The same hold. */
    static HoldHandle of(Hold hold) {
        return (HoldHandle) hold;
    }

    /**
     * As {@link #onLost}, for a reaction of the engine: it runs at once, before any listener, on the thread that finds
     * the loss, and so waits for no code of users. It must neither block nor call any.
     */
    void whenLost(Consumer<Loss> reaction);

    /** As {@link #releaseAsync()}, for the engine: completed on the thread that learns of the end. */
    CompletableFuture<ReleaseOutcome> giveBack(CallerMode caller);
}
