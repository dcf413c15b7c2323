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

/** Calls of a client while its store does not answer. */
public final class UnansweredCalls {

    /** Of pools and drivers: what must not keep a caller. */
    public static final Duration LONG_WAIT = Duration.ofMinutes(2);

    /** Far above all waits here, for a machine that is busy, and far below {@link #LONG_WAIT}. */
    public static final Duration IN_TIME = Duration.ofSeconds(60);

    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);

    private UnansweredCalls() {}

    /** What keeps the store from answering, and what lets it answer again. */
    public interface Trouble {
        void run() throws Exception;
    }

    /** Whatever a client waits for ends in time, and what comes too late is given back. */
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

    /** Anybody can have it, once the store answers; on a busy machine that takes longer than a call waits. */
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

    /** The call fails since the store does not answer, and that in time. */
    public static void endsInTime(ThrowingCallable call) {
        long began = System.nanoTime();
        assertThatThrownBy(call).isInstanceOf(StoreUnavailableException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(IN_TIME);
    }
}
