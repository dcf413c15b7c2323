package com.example.shedlock;

import dev.holdfast.Holdfast;
import dev.holdfast.shedlock.HoldfastLockProvider;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;

/** Runs a task under ShedLock, and not a second time before it is due. */
public final class Program {

    public static void main(String... arguments) {
        try (Holdfast holdfast = Holdfast.connect("memory:")) {
            DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(new HoldfastLockProvider(holdfast));
            LockConfiguration report =
                    new LockConfiguration(Instant.now(), "report", Duration.ofHours(1), Duration.ofMinutes(5));
            int[] runs = {0};
            Runnable task = () -> runs[0]++;
            executor.executeWithLock(task, report);
            executor.executeWithLock(task, report);
            if (runs[0] != 1) {
                throw new AssertionError("the task should have run once, but did " + runs[0] + " times");
            }
        }
    }
}
