package dev.holdfast.verification.world;

import dev.holdfast.Environment;
import java.util.concurrent.Executor;

/** Passes everything on to another environment, the timers of renewals as other timers. */
public abstract class ForwardingEnvironment implements Environment {

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
