package dev.holdfast.engine.execution;

import dev.holdfast.Environment;
import java.util.concurrent.Executor;

/**
 * Stands before another environment and passes everything on. Timers of renewals are set like others, listeners of
 * losses run as callbacks, and no thread spins, unless a subclass passes that on too.
 */
public abstract class ForwardingEnvironment implements Environment {

    /** The other environment. */
    protected final Environment real;

    protected ForwardingEnvironment(Environment real) {
        this.real = real;
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        return real.schedule(delayNanos, task);
    }

    @Override
    public long monotonicNanos() {
        return real.monotonicNanos();
    }

    @Override
    public long bootNanos() {
        return real.bootNanos();
    }

    @Override
    public long wallMillis() {
        return real.wallMillis();
    }

    @Override
    public void parkUntil(Object blocker, long deadline) {
        real.parkUntil(blocker, deadline);
    }

    @Override
    public Executor callbacks() {
        return real.callbacks();
    }

    @Override
    public long randomLong() {
        return real.randomLong();
    }
}
