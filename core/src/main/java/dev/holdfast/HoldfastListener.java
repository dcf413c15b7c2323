package dev.holdfast;

import dev.holdfast.spi.Kind;
import org.jspecify.annotations.Nullable;

/**
 * Receives the acquisitions of a client: the ground for metrics and traces.
 *
 * <p>Re-entrant acquisitions cost no wait and no store, and are not reported. Neither are keep-alives, nor what goes
 * over the wire: to see that, put a {@link dev.holdfast.spi.LockStore} of your own around the store.
 *
 * <p><b>Thread-safety:</b> called by many threads at a time, each acquisition in its order. Methods are called on the
 * threads of the program or of the client, so they must be quick and must not block; what they throw is logged and does
 * no harm.
 */
@FunctionalInterface
public interface HoldfastListener {

    /**
     * An acquisition begins; called on the thread that requests it, before it waits.
     *
     * @return the listener for the rest of this acquisition, or null if nobody needs to know
     */
    @Nullable
    AcquisitionListener onRequested(AcquireRequest request);

    /**
     * What an acquisition asks for.
     *
     * @param name the resource
     * @param kind what it is
     * @param weight how much of it: permits of a semaphore; of a read-write lock 1 for a reader, all for a writer
     * @param store the store, for people
     */
    record AcquireRequest(String name, Kind kind, int weight, String store) {}
}
