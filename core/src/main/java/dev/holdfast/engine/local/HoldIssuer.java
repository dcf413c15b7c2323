package dev.holdfast.engine.local;

import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.CallerMode;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The resource as its holds know it: where they end, and where threads find theirs. Called without its lock. */
public interface HoldIssuer {

    Resource resource();

    /** Ends the outermost acquisition of a hold. Called by its owner, once. */
    CompletableFuture<ReleaseOutcome> release(LocalHold hold, CallerMode caller);

    /** A write hold becomes a read hold: its grant stays, and others may share it. Called by its owner. */
    void downgrade(LocalHold hold);

    /** The id of a hold is given to the caller: its grant then serves no other request. */
    void name(LocalHold hold);

    /** The hold that a thread has here, live or lost; null if it has none. */
    @Nullable
    LocalHold holdOf(Thread thread);

    /** The live hold that a thread has here; null if it has none. */
    @Nullable
    LocalHold liveHoldOf(Thread thread);

    /** Whether a live hold excludes all others here. */
    boolean isHeldExclusively();
}
