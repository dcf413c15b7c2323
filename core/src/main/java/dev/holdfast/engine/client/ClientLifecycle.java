package dev.holdfast.engine.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Whether a client is closed, and the calls that fail when it is. Thread-safe. */
public final class ClientLifecycle {
    private final Failures failures;
    private final AtomicLong callNumbers = new AtomicLong();
    /** Calls to fail with the client, other than requests for resources; by number, in the order of their arrival. */
    private final ConcurrentMap<Long, CompletableFuture<?>> calls = new ConcurrentHashMap<>();

    private final AtomicBoolean isClosing = new AtomicBoolean();

    ClientLifecycle(Failures failures) {
        this.failures = failures;
    }

    boolean isClosing() {
        return isClosing.get();
    }

    /** Begins the close and fails all open calls; returns false if it had begun before. */
    public boolean beginClose() {
        if (!isClosing.compareAndSet(false, true)) {
            return false;
        }
        for (CompletableFuture<?> call : calls.values()) {
            call.completeExceptionally(failures.closed());
        }
        return true;
    }

    /** Fails a call when the client is closed before it ends. */
    public void endWithClient(CompletableFuture<?> call) {
        Long number = callNumbers.incrementAndGet();
        calls.put(number, call);
        var unused = call.whenComplete((done, failure) -> calls.remove(number));
        if (isClosing()) {
            call.completeExceptionally(failures.closed());
        }
    }
}
