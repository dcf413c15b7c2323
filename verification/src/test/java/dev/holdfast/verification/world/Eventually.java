package dev.holdfast.verification.world;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Polls until a condition holds, up to a deadline that only a failure reaches. */
public final class Eventually {

    /** Far beyond what anything takes here, also on a busy machine. */
    public static final Duration DEADLINE = Duration.ofSeconds(60);

    private static final long LOOK_EVERY_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    private Eventually() {}

    /** Returns as soon as the condition holds; fails the test if that does not happen. */
    public static void holds(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new AssertionError("Within " + DEADLINE + " it did not come about that " + what);
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }
}
