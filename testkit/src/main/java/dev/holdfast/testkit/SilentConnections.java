package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/** What must hold when the connections of a client go silent while new ones work. */
public final class SilentConnections {

    private static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private SilentConnections() {}

    /**
     * A hold survives a silence of three times its ttl; until its release no other client gets the lock.
     *
     * @param client whose connections go silent
     * @param other whose connections do not
     * @param ttl that of the client's session
     * @param silence silences the connections that are open
     * @param silent how many are silent
     */
    public static void outlast(Holdfast client, Holdfast other, Duration ttl, Runnable silence, LongSupplier silent)
            throws Exception {
        Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1));
        long token = hold.fencingToken();
        Queue<Loss> losses = new ConcurrentLinkedQueue<>();
        hold.onLost(losses::add);
        CompletableFuture<Hold> next = other.lock("ledger").acquireAsync().toCompletableFuture();
        silence.run();
        assertThat(silent.getAsLong()).isPositive();
        long began = System.nanoTime();
        while (System.nanoTime() - began < 3 * ttl.toNanos()) {
            assertThat(hold.isHeld())
                    .as("after %d ns", System.nanoTime() - began)
                    .isTrue();
            assertThat(next).isNotDone();
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
        assertThat(losses).isEmpty();
        assertThat(hold.fencingToken()).isEqualTo(token);
        client.lock("another").acquire(Duration.ofMinutes(1)).close();
        hold.close();
        try (Hold successor = next.get(1, TimeUnit.MINUTES)) {
            assertThat(successor.fencingToken()).isGreaterThan(token);
        }
        assertThat(losses).isEmpty();
    }
}
