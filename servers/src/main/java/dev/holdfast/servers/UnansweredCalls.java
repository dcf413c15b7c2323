package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Calls of a client while its store does not reply. */
public final class UnansweredCalls {

    /** The time-outs of pools and drivers, which must not delay a caller. */
    public static final Duration LONG_WAIT = Duration.ofMinutes(2);

    /** Far longer than all waits here, for a busy machine, and far shorter than {@link #LONG_WAIT}. */
    public static final Duration IN_TIME = Duration.ofSeconds(60);

    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);

    private UnansweredCalls() {}

    /** Stops the store from replying, and lets it reply again. */
    public interface Trouble {
        void run() throws Exception;
    }

    /** Checks that every wait of a client ends in time, and that late grants are released. */
    public static void endInTime(Holdfast.Builder builder, Trouble begins, Trouble ends) throws Exception {
        try (Holdfast client = builder.storeTimeout(STORE_TIMEOUT)
                .sessionTtl(Duration.ofMinutes(10))
                .build()) {
            isFree(client, "first");
            begins.run();
            try {
                endsInTime(() -> client.lock("wait").acquire(Duration.ofSeconds(2)));
                endsInTime(() -> client.lock("try").tryLock());
                endsInTime(() -> client.lock("unbounded").lock());
            } finally {
                ends.run();
            }
            for (String name : List.of("wait", "try", "unbounded")) {
                isFree(client, name);
            }
        }
    }

    /** Checks that the lock is free once the store replies; on a busy machine that takes longer than one call waits. */
    private static void isFree(Holdfast client, String name) throws Exception {
        long began = System.nanoTime();
        while (true) {
            try {
                client.lock(name)
                        .acquireAsync()
                        .toCompletableFuture()
                        .get(IN_TIME.toSeconds(), TimeUnit.SECONDS)
                        .close();
                return;
            } catch (ExecutionException e) {
                if (!(e.getCause() instanceof StoreUnavailableException)
                        || System.nanoTime() - began > IN_TIME.toNanos()) {
                    throw e;
                }
            }
        }
    }

    /** Checks that a call fails in time because the store does not reply. */
    public static void endsInTime(ThrowingCallable call) {
        long began = System.nanoTime();
        assertThatThrownBy(call).isInstanceOf(StoreUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(IN_TIME);
    }
}
