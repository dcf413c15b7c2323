package dev.holdfast.examples;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Limits the calls in any window of time, across all processes. */
final class RateLimit {

    private final DistributedSemaphore calls;
    private final Duration window;
    private final AcquireOptions options;
    private final ScheduledExecutorService timer;

    RateLimit(Holdfast holdfast, String name, int limit, Duration window, ScheduledExecutorService timer) {
        this.calls = holdfast.semaphore(name, limit);
        this.window = window;
        this.options = AcquireOptions.defaults().withDetachedLease(window.multipliedBy(3));
        this.timer = timer;
    }

    <T> T call(Callable<T> request) throws Exception {
        Permits permit = calls.acquire(1, options); // waits for its turn
        try {
            return request.call();
        } finally {
            // The window starts at the end of the call, so that a slow call can't span two windows.
            var unused = timer.schedule(() -> permit.releaseAsync(), window.toMillis(), TimeUnit.MILLISECONDS);
        }
    }
}
