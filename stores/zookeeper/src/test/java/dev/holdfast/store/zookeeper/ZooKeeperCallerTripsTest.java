package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A caller that waits makes the round trip to ZooKeeper itself")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ZooKeeperCallerTripsTest {

    private static final Duration PATIENT = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(500);

    private final ZooKeeperServer server = ZooKeeperUnderTest.server();

    private static ZooKeeperStore.Builder builder(ZooKeeperServer server) {
        return ZooKeeperUnderTest.patient(
                ZooKeeperStore.builder(server.connectString()).root(ZooKeeperUnderTest.newRoot()));
    }

    /**
     * A client that knows what it needs for one write, and whose last call nobody else has to finish: it was made by
     * its caller.
     */
    private static TestClient warm(ZooKeeperStore store) throws Exception {
        TestClient client = new TestClient(store);
        long deadline = System.nanoTime() + PATIENT.toNanos();
        boolean isMadeByCaller;
        do {
            assertThat(System.nanoTime())
                    .as("time until a caller makes a round trip")
                    .isLessThan(deadline);
            ClaimRef claim = client.ref("x");
            assertThat(acquire(client, claim, PATIENT).get()).isInstanceOf(Reply.Granted.class);
            CompletableFuture<Reply> release = store.execute(new Command.Release(claim), CallerMode.BLOCKING, PATIENT)
                    .toCompletableFuture();
            isMadeByCaller = release.isDone();
            release.get();
        } while (!isMadeByCaller);
        return client;
    }

    private static CompletableFuture<Reply> acquire(TestClient client, Duration patience) {
        return acquire(client, client.ref("x"), patience);
    }

    private static CompletableFuture<Reply> acquire(TestClient client, ClaimRef claim, Duration patience) {
        Command command = new Command.Acquire(
                claim, 0, Command.Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Command.Waiting.QUEUE, 1);
        return client.store.execute(command, CallerMode.BLOCKING, patience).toCompletableFuture();
    }

    private static <T> T in(Thread thread, FutureTask<T> task) throws Exception {
        try {
            return task.get(PATIENT.toSeconds(), TimeUnit.SECONDS);
        } finally {
            thread.join(PATIENT.toMillis());
        }
    }

    private static void awaitWaiting(Thread thread) {
        long deadline = System.nanoTime() + PATIENT.toNanos();
        while (Arrays.stream(thread.getStackTrace())
                .noneMatch(frame -> frame.getClassName().endsWith(".WaitingHandle")
                        && frame.getMethodName().equals("await"))) {
            assertThat(System.nanoTime()).as("time until it waits").isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    @Test
    @DisplayName("and has the reply when the call returns; a pending interrupt stays pending")
    void onTheCallersThread() throws Exception {
        try (ZooKeeperStore store = builder(server).open()) {
            TestClient client = warm(store);

            Thread.currentThread().interrupt();
            CompletableFuture<Reply> reply = acquire(client, PATIENT);
            assertThat(Thread.interrupted()).isTrue();

            assertThat(reply).isCompletedWithValueMatching(value -> value instanceof Reply.Granted);
        }
    }

    @Test
    @DisplayName("an interrupt that arrives meanwhile doesn't lose the reply")
    void interrupted() throws Exception {
        try (ZooKeeperServer own = ZooKeeperServer.start();
                ZooKeeperStore store = builder(own).open()) {
            TestClient client = warm(store);
            own.process().pause();
            FutureTask<Boolean> task = new FutureTask<>(() -> {
                Reply reply = acquire(client, PATIENT).get();
                return reply instanceof Reply.Granted && Thread.interrupted();
            });
            Thread caller = new Thread(task, "caller");
            caller.start();
            awaitWaiting(caller);

            caller.interrupt();
            awaitWaiting(caller);
            own.process().resume();

            assertThat(in(caller, task)).isTrue();
        }
    }

    @Test
    @DisplayName("for as long as it has patience; then the outcome is unknown")
    void limited() throws Exception {
        try (ZooKeeperServer own = ZooKeeperServer.start();
                ZooKeeperStore store = builder(own).open()) {
            TestClient client = warm(store);
            own.process().pause();
            try {
                Callable<Reply> call = () -> acquire(client, SHORT).get();
                FutureTask<Reply> task = new FutureTask<>(call);
                Thread caller = new Thread(task, "caller");
                caller.start();
                assertThatThrownBy(() -> in(caller, task))
                        .isInstanceOf(ExecutionException.class)
                        .rootCause()
                        .isInstanceOfSatisfying(
                                StoreException.class,
                                failure -> assertThat(failure.effect()).isEqualTo(StoreException.Effect.UNKNOWN));
            } finally {
                own.process().resume();
            }
        }
    }
}
