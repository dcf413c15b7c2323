package dev.holdfast.engine.semaphore;

import dev.holdfast.Lockable;
import dev.holdfast.engine.local.Acquirer;
import dev.holdfast.engine.local.LocalResources;
import dev.holdfast.engine.local.Mode;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;

/** A number of permits of one semaphore, as a part of a multi-lock. Immutable. */
public record SemaphorePermits(LocalResources resources, ResourceName resource, ResourceSpec spec, int permits)
        implements Lockable {

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if the semaphore has fewer
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

    /** Their semaphore. */
    public EngineSemaphore semaphore() {
        return new EngineSemaphore(resources, resource, spec);
    }

    /** Makes requests for this number of permits. */
    public Acquirer acquirer() {
        return new Acquirer(resources, resource, Mode.unowned(spec, permits, PermitHold::new));
    }

    /**
     * Adds more permits of the same semaphore.
     *
     * @throws IllegalArgumentException if the semaphore has fewer
     */
    public SemaphorePermits with(SemaphorePermits more) {
        long sum = (long) permits + more.permits;
        if (sum > spec.capacity()) {
            throw new IllegalArgumentException("Semaphore '" + resource + "' has " + spec.capacity()
                    + " permits: can't acquire " + sum + ", the sum of the listed permits");
        }
        return new SemaphorePermits(resources, resource, spec, (int) sum);
    }
}
