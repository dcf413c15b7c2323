package dev.holdfast.store.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.ErrorLog;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.store.redis.ThrowingRoute.Place;
import dev.holdfast.store.redis.connection.ConnectionFactory;
import dev.holdfast.store.redis.connection.ReconnectingConnection;
import dev.holdfast.testkit.FaultInTurn;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/*
 * Runs the same scenario repeatedly, and throws at each call of one kind in turn: in the first run at the first call,
 * in the second run at the second, and so on until a run ends before its turn.
 */
@DisplayName("Whatever the driver of Redis throws, and wherever")
@Tag("server")
class RedisThrowingTest {

    private static final int MOST_TELLINGS = 200;
    private static final AtomicInteger NAMESPACES = new AtomicInteger();

    private static Holdfast client(RedisStore store) {
        return Holdfast.builder(store)
                .sessionTtl(Duration.ofSeconds(60))
                .storeTimeout(Duration.ofSeconds(40))
                .build();
    }

    @ParameterizedTest(name = "at a {0}")
    @EnumSource
    @MostlyWaits
    @DisplayName("all who wait are served, and nothing stays behind")
    @Timeout(600)
    void inTurn(Place place) throws Exception {
        FaultInTurn<Place> fault = new FaultInTurn<>(place);
        ThrowingRoute throwing = new ThrowingRoute(fault);
        String namespace = "throwing-" + NAMESPACES.incrementAndGet();
        RedisStore.Builder faulty = TestServer.shared()
                .builder()
                .namespace(namespace)
                .between(throwing::between)
                .ticks(throwing::nanos);
        RedisStore.Builder good = TestServer.shared().builder().namespace(namespace);
        try (RedisStore observer = good.open();
                Holdfast one = client(faulty.open());
                Holdfast other = client(good.open())) {
            run(one, other, "warm");
            int turn = 0;
            boolean cameToIt = true;
            while (cameToIt) {
                turn++;
                assertThat(turn).isLessThan(MOST_TELLINGS);
                fault.at(turn);
                run(one, other, "n" + turn);
                cameToIt = fault.isOver();
                if (cameToIt) {
                    expectLoggedOnce(fault);
                }
                // Their sessions live: nothing ends by the end of these.
                Asking.until("nothing stays after " + place + " " + turn, () -> isNothingLeft(observer));
            }
            assertThat(turn).isGreaterThan(4);
        }
    }

    private static void expectLoggedOnce(FaultInTurn<Place> fault) {
        Asking.until(
                "it is logged: " + fault.text(),
                () -> ErrorLog.errors().stream().anyMatch(error -> error.isAbout(fault.text())));
        assertThat(ErrorLog.errors())
                .filteredOn(error -> error.isAbout(fault.text()))
                .hasSize(1);
    }

    private static boolean isNothingLeft(RedisStore store) {
        return Asking.send(store, new Command.Inspect("", Optional.empty(), 100), Reply.Inspected.class)
                .resources()
                .isEmpty();
    }

    /** Locks that are free, waited for, handed over and released, by waiters and by holders that continue. */
    private static void run(Holdfast one, Holdfast other, String name) throws Exception {
        Hold first = get(one.lock(name).acquireAsync());
        long token = first.fencingToken();
        CompletableFuture<Hold> waiting = other.lock(name).acquireAsync().toCompletableFuture();
        CompletableFuture<Hold> beside = one.lock(name + "-b").acquireAsync().toCompletableFuture();
        var unusedRelease = first.releaseAsync();
        Hold second = get(waiting);
        assertThat(second.fencingToken()).isGreaterThan(token);
        token = second.fencingToken();
        CompletableFuture<Hold> back = one.lock(name).acquireAsync().toCompletableFuture();
        second.close();
        Hold third = get(back);
        assertThat(third.fencingToken()).isGreaterThan(token);
        third.close();
        get(beside).close();
        try (Hold last = one.lock(name + "-c").acquire(Duration.ofSeconds(60))) {
            assertThat(last.isHeld()).isTrue();
        }
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("a connection is made in the end, however often a thread for it could not be had")
    void connecting() {
        RedisStore.Builder options = TestServer.shared().builder();
        ConnectionFactory driver = new ConnectionFactory(options.connectionOptions());
        AtomicInteger attempts = new AtomicInteger();
        ReconnectingConnection<StatefulRedisConnection<byte[], byte[]>> link = new ReconnectingConnection<>(
                () -> {
                    if (attempts.incrementAndGet() <= 3) {
                        // An OutOfMemoryError is what JUnit takes for its own end.
                        throw new Error("unable to create native thread: the test says so");
                    }
                    return driver.connect(driver.at(TestServer.shared().uri()));
                },
                made -> {
                    if (attempts.get() <= 5) {
                        throw new AssertionError("the test says so");
                    }
                    return CompletableFuture.completedFuture("");
                },
                driver,
                "test");
        try {
            link.start();
            Asking.until("it is connected", () -> link.current() != null);
            assertThat(attempts).hasValue(6);
        } finally {
            link.close();
            driver.close();
        }
    }
}
