package dev.holdfast.store.jdbc.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.Batcher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The lanes of sessions")
class SessionLanesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** A round trip that has begun, and continues on the test's signal. */
    private record Begun(int lane, CountDownLatch proceed) {
        void answer() {
            proceed.countDown();
        }
    }

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final BlockingQueue<Begun> begun = new LinkedBlockingQueue<>();
    private final Queue<Integer> ended = new ConcurrentLinkedQueue<>();
    private final Queue<Integer> needless = new ConcurrentLinkedQueue<>();

    @AfterEach
    void stop() {
        begun.forEach(Begun::answer);
        threads.shutdownNow();
    }

    private SessionLanes lanes(ConnectionOrigin origin) {
        return new SessionLanes(
                number -> (lane, calls) -> make(number, calls),
                10,
                threads,
                now::get,
                origin,
                ended::add,
                needless::add);
    }

    private void make(int number, List<Batcher.Call> calls) {
        Begun trip = new Begun(number, new CountDownLatch(1));
        begun.add(trip);
        try {
            if (trip.proceed.await(60, TimeUnit.SECONDS)) {
                calls.forEach(call -> call.answer(new Reply.SessionAlive()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @CanIgnoreReturnValue
    private static CompletableFuture<Reply> renew(SessionLanes lanes) {
        Command renewal = new Command.KeepAlive(new SessionId("s"), 0, PATIENCE);
        return lanes.submit(renewal, CallerMode.ASYNC).toCompletableFuture();
    }

    @CanIgnoreReturnValue
    private Begun next() throws InterruptedException {
        Begun trip = begun.poll(60, TimeUnit.SECONDS);
        assertThat(trip).isNotNull();
        return trip;
    }

    private void passes(Duration time) {
        now.addAndGet(time.toNanos());
    }

    private static void answer(Begun trip, CompletableFuture<Reply> reply) throws Exception {
        trip.answer();
        assertThat(reply.get(60, TimeUnit.SECONDS)).isEqualTo(new Reply.SessionAlive());
    }

    @Test
    @DisplayName("are one as long as that answers in time")
    void oneThatAnswers() throws Exception {
        SessionLanes lanes = lanes(ConnectionOrigin.OWN);
        for (int i = 0; i < 5; i++) {
            CompletableFuture<Reply> first = renew(lanes);
            Begun trip = next();
            passes(PATIENCE.minusNanos(1));
            CompletableFuture<Reply> second = renew(lanes);
            assertThat(trip.lane()).isZero();
            answer(trip, first);
            trip = next();
            assertThat(trip.lane()).isZero();
            answer(trip, second);
        }
        assertThat(ended).isEmpty();
        assertThat(needless).isEmpty();
    }

    @Test
    @DisplayName("are another while the first is silent, whose connection is ended when the other is answered")
    void oneThatIsSilent() throws Exception {
        SessionLanes lanes = lanes(ConnectionOrigin.OWN);
        renew(lanes);
        Begun silent = next();
        passes(PATIENCE);
        CompletableFuture<Reply> repeated = renew(lanes);
        Begun other = next();
        assertThat(other.lane()).isEqualTo(1);
        assertThat(ended).isEmpty();
        answer(other, repeated);
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> ended.contains(0));
        // The other lane is used from now on, although the first is free again.
        silent.answer();
        for (int i = 0; i < 3; i++) {
            CompletableFuture<Reply> later = renew(lanes);
            Begun trip = next();
            assertThat(trip.lane()).isEqualTo(1);
            answer(trip, later);
        }
        assertThat(ended).hasSize(1);
    }

    @Test
    @DisplayName("lose nothing to a server that is only slow: it answers on the first connection first, which stays")
    void oneThatIsSlow() throws Exception {
        SessionLanes lanes = lanes(ConnectionOrigin.OWN);
        CompletableFuture<Reply> first = renew(lanes);
        Begun slow = next();
        passes(PATIENCE);
        CompletableFuture<Reply> repeated = renew(lanes);
        Begun other = next();
        answer(slow, first);
        answer(other, repeated);
        CompletableFuture<Reply> later = renew(lanes);
        Begun trip = next();
        assertThat(trip.lane()).isZero();
        answer(trip, later);
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> needless.contains(1));
        assertThat(ended).isEmpty();
    }

    @Test
    @DisplayName("are bounded in number, however long nothing answers")
    void areBounded() throws Exception {
        SessionLanes lanes = lanes(ConnectionOrigin.OWN);
        List<CompletableFuture<Reply>> all = new ArrayList<>();
        List<Begun> trips = new ArrayList<>();
        for (int i = 0; i < SessionLanes.LANES; i++) {
            all.add(renew(lanes));
            trips.add(next());
            passes(PATIENCE);
        }
        assertThat(trips).extracting(Begun::lane).containsExactly(0, 1, 2);
        for (int i = 0; i < 20; i++) {
            all.add(renew(lanes));
            passes(PATIENCE);
        }
        assertThat(begun).isEmpty();
        assertThat(ended).isEmpty();
        trips.forEach(Begun::answer);
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> {
            begun.forEach(Begun::answer);
            return all.stream().allMatch(CompletableFuture::isDone);
        });
    }

    @Test
    @DisplayName("of a pool have their connection ended as soon as it is silent, since the pool may have no other")
    void ofAPool() throws Exception {
        SessionLanes lanes = lanes(ConnectionOrigin.POOL);
        renew(lanes);
        next();
        passes(PATIENCE);
        renew(lanes);
        assertThat(next().lane()).isEqualTo(1);
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> ended.contains(0));
        assertThat(ended).hasSize(1);
    }
}
