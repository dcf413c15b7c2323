package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.claim;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Half of the clients die at once, many of them while waiting for one name: the others keep their holds and their
 * places. The size is a parameter: with {@code -Dholdfast.redis.storm=10000} as many clients die next to half as many
 * live waiters, and the longest keep-alive and the slowest call are printed.
 */
@Tag("server")
class RedisMassExpiryTest {

    private static final int DYING = Integer.getInteger("holdfast.redis.storm", 600);
    private static final int WAITERS = DYING / 2;
    private static final int LIVING = 50;
    private static final Duration TTL = Duration.ofSeconds(15);

    private final RedisUnderTest bench = RedisUnderTest.inRealTime();
    private final LockStore store = bench.first();
    private long worstNanos;
    private volatile boolean isOver;

    @Test
    void clientsThatLiveKeepTheirSessionsWhileManyOthersExpire() throws Exception {
        TestServer server = TestServer.shared();
        String uri = "redis://127.0.0.1:" + server.port() + "?namespace=" + bench.namespace();
        List<SessionId> living = sessions(LIVING);
        List<Holdfast> clients = new ArrayList<>();
        List<Hold> holds = new ArrayList<>();
        try {
            for (int i = 0; i < 5; i++) {
                clients.add(Holdfast.builder(uri).sessionTtl(TTL).build());
                holds.add(clients.get(i).lock("own-" + i).acquire());
            }
            askAll(Stream.of(Asking.acquire(claim("hot", living.get(0), 1))));
            List<SessionId> dying = sessions(DYING);
            // Living and dying wait behind one another, and half of the dying hold something of their own.
            askAll(IntStream.range(0, DYING)
                    .boxed()
                    .flatMap(i -> Stream.of(
                            Asking.acquire(claim(i % 2 == 0 ? "hot" : "name-" + i, dying.get(i), 1)),
                            Asking.acquire(claim("hot", living.get(i % LIVING), 2 + i))))
                    .filter(acquire -> acquire.claim().claim() <= WAITERS + 1));
            server.server().command("CONFIG", "SET", "slowlog-log-slower-than", "1000", "slowlog-max-len", "100000");
            server.server().command("SLOWLOG", "RESET");
            keepAlive(living);
            keepAlive(dying);
            long waitingNow = waiting();
            assertThat(waitingNow).isEqualTo(WAITERS + DYING / 2);
            worstNanos = 0;
            CompletableFuture<Void> renewing = CompletableFuture.runAsync(() -> {
                while (!isOver) {
                    keepAlive(living);
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                }
            });
            // Each inspection makes the server do more of the remaining work.
            Asking.until("all the dead have made way", () -> waiting() == WAITERS);
            isOver = true;
            renewing.orTimeout(60, TimeUnit.SECONDS).join();
            report(server);
            assertThat(holds).allSatisfy(hold -> assertThat(hold.isHeld()).isTrue());
            assertThat(waiting()).isEqualTo(WAITERS);
            ResourceInfo hot = Asking.inspectAll(store, "hot").get(0);
            assertThat(hot.holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.claim().session()).isEqualTo(living.get(0)));
        } finally {
            clients.forEach(Holdfast::close);
            bench.close();
        }
    }

    private long waiting() {
        return Asking.waiting(store, "hot");
    }

    private List<SessionId> sessions(int count) {
        List<CompletableFuture<Reply>> opened = IntStream.range(0, count)
                .mapToObj(i -> ask(new Command.OpenSession(TTL, "client " + i, 0)))
                .toList();
        return opened.stream()
                .map(each -> ((Reply.SessionOpened)
                                each.orTimeout(60, TimeUnit.SECONDS).join())
                        .session())
                .toList();
    }

    private void keepAlive(List<SessionId> sessions) {
        List<CompletableFuture<Reply>> answers = sessions.stream()
                .map(session -> {
                    long sentAt = System.nanoTime();
                    return ask(new Command.KeepAlive(session, 0)).whenComplete((reply, failure) -> {
                        synchronized (this) {
                            worstNanos = Math.max(worstNanos, System.nanoTime() - sentAt);
                        }
                    });
                })
                .toList();
        answers.forEach(
                each -> assertThat(each.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Reply.SessionAlive.class));
    }

    private void askAll(Stream<Command.Acquire> commands) {
        List<CompletableFuture<Reply>> answers = commands.map(this::ask).toList();
        answers.forEach(each -> assertThat(each.orTimeout(60, TimeUnit.SECONDS).join())
                .isInstanceOfAny(Reply.Granted.class, Reply.Queued.class));
    }

    private CompletableFuture<Reply> ask(Command command) {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture();
    }

    private void report(TestServer server) {
        long slowest = ((List<?>) (Object) server.server().command("SLOWLOG", "GET", "100000"))
                .stream()
                        .mapToLong(entry -> (Long) ((List<?>) entry).get(2))
                        .max()
                        .orElse(0);
        System.out.printf(
                "%d sessions ended beside %d who wait: the longest keep-alive took %.1f ms, the slowest call %.1f ms%n",
                DYING, WAITERS, worstNanos / 1e6, slowest / 1e3);
    }
}
