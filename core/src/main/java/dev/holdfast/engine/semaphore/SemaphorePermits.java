package dev.holdfast.engine.semaphore;

import dev.holdfast.Lockable;
import dev.holdfast.engine.local.Door;
import dev.holdfast.engine.local.LocalTier;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/** Some permits of a semaphore, to be taken with other resources. Immutable. */
public record SemaphorePermits(LocalTier tier, ResourceName resource, ResourceSpec spec, int permits)
        implements Lockable {

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if there are not so many
     */
    public SemaphorePermits {
        if (permits < 1 || permits > spec.capacity()) {
            throw new IllegalArgumentException(
                    "Semaphore '" + resource + "' has " + spec.capacity() + " permits: can't acquire " + permits);
        }
    }

    @Override
    public String name() {
        return resource.value();
    }

    /** The semaphore that they are of. */
    public EngineSemaphore semaphore() {
        return new EngineSemaphore(tier, resource, spec);
    }

    /** The way to requests for so many. */
    public Door door() {
        return new Door(tier, resource, Mode.unowned(spec, permits, PermitHold::new));
    }

    /**
     * These and others of the same semaphore.
     *
     * @throws IllegalArgumentException if there are not so many
     */
    public SemaphorePermits with(SemaphorePermits more) {
        long sum = (long) permits + more.permits;
        if (sum > spec.capacity()) {
            throw new IllegalArgumentException("Semaphore '" + resource + "' has " + spec.capacity()
                    + " permits: can't acquire " + sum + ", the sum of what is listed");
        }
        return new SemaphorePermits(tier, resource, spec, (int) sum);
    }
}
