package dev.holdfast.engine;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Lockable;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Some permits of a semaphore, to be taken with others. Immutable. */
record PermitsPart(Engine engine, ResourceName resource, ResourceSpec spec, int permits) implements Lockable, Part {

    /**
     * Checks the number.
     *
     * @throws IllegalArgumentException if there are not so many
     */
    PermitsPart {
        if (permits < 1 || permits > spec.capacity()) {
            throw new IllegalArgumentException(
                    "Semaphore '" + resource + "' has " + spec.capacity() + " permits: can't acquire " + permits);
        }
    }

    @Override
    public String name() {
        return resource.value();
    }

    @Override
    public boolean isHeldByCaller() {
        // Permits belong to nobody but themselves.
        return false;
    }

    @Override
    public Optional<Hold> tryAcquire() {
        return semaphore().tryAcquire(permits).map(Hold.class::cast);
    }

    @Override
    public Optional<Hold> tryAcquire(AcquireOptions options) throws InterruptedException {
        return semaphore().tryAcquire(permits, options).map(Hold.class::cast);
    }

    private EngineSemaphore semaphore() {
        return new EngineSemaphore(engine, resource, spec);
    }

    @Override
    public CompletableFuture<Hold> acquireForEngine(AcquireOptions options) {
        return new Door(engine, resource, new Mode(spec, permits, false))
                .enterForEngine(Door.leaseOf(options), Door.isExtendable(options), Door.waitOf(options));
    }

    @Override
    public Part with(Part other) {
        if (!(other instanceof PermitsPart more) || !more.spec.equals(spec)) {
            throw new IllegalArgumentException(
                    "'" + resource + "' is named twice, as different things: a resource can be only one part");
        }
        long sum = (long) permits + more.permits;
        if (sum > spec.capacity()) {
            throw new IllegalArgumentException("Semaphore '" + resource + "' has " + spec.capacity()
                    + " permits: can't acquire " + sum + ", the sum of what is listed");
        }
        return new PermitsPart(engine, resource, spec, (int) sum);
    }
}
