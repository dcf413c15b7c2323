package dev.holdfast.engine.semaphore;

import dev.holdfast.Lockable;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/** Some permits of a semaphore, to be taken with other resources. Immutable. */
public record SemaphorePermits(LocalResources resources, ResourceName resource, ResourceSpec spec, int permits)
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
        return new EngineSemaphore(resources, resource, spec);
    }

    /** The way to requests for so many. */
    public Acquirer acquirer() {
        return new Acquirer(resources, resource, Mode.unowned(spec, permits, PermitHold::new));
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
        return new SemaphorePermits(resources, resource, spec, (int) sum);
    }
}
