package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.spi.Lease;
import java.util.List;

/** One request of an actor: for a resource or part of it, or for several at once. */
final class AcquireIntent {

    /**
     * The request for one resource.
     *
     * @param weight how much of it
     * @param tokenBefore the greatest token seen before among holds that exclude this one
     */
    record Part(SimResource resource, int weight, long tokenBefore) {
        boolean isShare() {
            return resource.isShare(weight);
        }

        @Override
        public String toString() {
            return weight == resource.capacity() ? resource.name() : weight + " of " + resource.name();
        }
    }

    final List<Part> parts;
    final AcquireOptions options;
    /** In true time. */
    final long askedAt;

    final long askedAtLocally;
    boolean isDone;
    boolean isCancelled;

    /** How many later requests for the same resource were granted before it. */
    int passedBy;

    AcquireIntent(List<Part> parts, AcquireOptions options, long askedAt, long askedAtLocally) {
        this.parts = parts;
        this.options = options;
        this.askedAt = askedAt;
        this.askedAtLocally = askedAtLocally;
    }

    boolean isTry() {
        return options.maxWait().isPresent() && options.maxWait().get().isZero();
    }

    /** Whether its owner may extend its lease. */
    boolean isExtendable() {
        return options.fixedLease().isPresent() || isDetached();
    }

    boolean isDetached() {
        return options.detachedLease().isPresent();
    }

    /** Whether its hold ends without a release. */
    boolean endsByItself() {
        return isExtendable() || options.maxHold().isPresent();
    }

    Lease.Binding binding() {
        return isDetached() ? Lease.Binding.DETACHED : endsByItself() ? Lease.Binding.BOUNDED : Lease.Binding.SESSION;
    }

    @Override
    public String toString() {
        return parts + " (" + options + ")";
    }
}
