package dev.holdfast.store.quorum;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for conditions. */
final class Awaiting {

    private Awaiting() {}

    static void until(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("It did not come about that " + what);
            }
            LockSupport.parkNanos(5_000_000);
        }
    }
}
