package dev.holdfast.store.register.client;

import dev.holdfast.Environment;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that a test moves, and timers that don't wait for them. */
class ManualTime extends ForwardingEnvironment {

    private final AtomicLong micros;

    ManualTime(AtomicLong micros, Environment timers) {
        super(timers);
        this.micros = micros;
    }

    @Override
    public final long monotonicNanos() {
        return micros.get() * 1_000;
    }

    @Override
    public final long bootNanos() {
        return monotonicNanos();
    }

    @Override
    public final long wallMillis() {
        return micros.get() / 1_000;
    }
}
