package dev.holdfast.servers.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Holdfast;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Calls of a client while its database does not answer. */
public final class UnansweredCalls {

    /** Of pools and drivers: what must not keep a caller. */
    public static final Duration LONG_WAIT = Duration.ofMinutes(2);

    /** Far above all waits here, for a machine that is busy, and far below {@link #LONG_WAIT}. */
    public static final Duration IN_TIME = Duration.ofSeconds(60);

    private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);

    private UnansweredCalls() {}

    /** What keeps the database from answering, and what lets it answer again. */
    public interface Trouble {
        void run() throws SQLException;
    }

    /** Whatever a client waits for ends in time, and what comes too late is given back. */
    public static void endInTime(LockStore store, Trouble begins, Trouble ends) throws Exception {
        try (Holdfast client = Holdfast.builder(store)
                .storeTimeout(STORE_TIMEOUT)
                .sessionTtl(Duration.ofMinutes(10))
                .build()) {
            client.lock("first").acquire(IN_TIME).close();
            begins.run();
            try {
                endsInTime(() -> client.lock("wait").acquire(Duration.ofSeconds(2)));
                endsInTime(() -> client.lock("try").tryLock());
                endsInTime(() -> client.lock("unbounded").lock());
            } finally {
                ends.run();
            }
            // What was asked for and came too late was given back: another thread has it.
            for (String name : List.of("wait", "try", "unbounded")) {
                client.lock(name)
                        .acquireAsync()
                        .toCompletableFuture()
                        .get(60, TimeUnit.SECONDS)
                        .close();
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
