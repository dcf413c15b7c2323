package dev.holdfast.engine.deadlock;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What a pass of the search for deadlocks needs to know of its client and of the store. Made for one pass. */
public interface SearchedClient {

    /** A nested wait of this client when the pass began. */
    record Searched(Object request, String awaits, boolean isReader) {}

    /**
     * A hold of a nested wait, after its grant was polled.
     *
     * @param isAwaitedHere whether a request of this client waits for its name
     * @param isAwaitedAtStore whether the store knows a claim that waits for it
     * @param isSharedGrant whether its grant leaves room for others
     */
    record PolledHold(Object request, boolean isAwaitedHere, boolean isAwaitedAtStore, boolean isSharedGrant) {}

    /**
     * What the client's tables show of a nested wait.
     *
     * @param isHead whether it is at the head of its queue
     * @param reader more of a reader's wait; null if it is not a reader's
     */
    record TableEntry(OwnWait own, boolean isHead, @Nullable Reader reader) {}

    /**
     * What the client's tables show of a reader that waits.
     *
     * @param isBehindWriter whether a writer's request is before it in the queue of its client
     * @param queued the claim of its client in the store's queue; null if there is none
     * @param isDraining whether its client has a grant that serves no further request, since others wait for it
     */
    record Reader(boolean isBehindWriter, @Nullable String queued, boolean isDraining) {}

    /** The nested waits of this client when the pass began. */
    List<Searched> waits();

    /** Asks the store which grants of these waits are awaited. */
    CompletableFuture<List<PolledHold>> poll();

    /** Asks the store about a name. Never fails: empty if nothing is known. */
    CompletableFuture<Optional<NameState>> inspect(String name);

    /** Those of the waits that still go on, and hold something that only a thread's release ends. */
    List<TableEntry> tables();

    /** The age of the youngest of the waits. */
    long youngestNanos();
}
