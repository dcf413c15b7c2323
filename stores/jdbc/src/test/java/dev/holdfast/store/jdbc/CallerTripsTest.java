package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.spi.LockStore;
import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

@DisplayName("On connections of the store's own a caller that waits makes the trip itself")
@Tag("mysql")
@Tag("postgres")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CallerTripsTest {

    /** Far above the store time-outs here, for a busy machine; the connections themselves have no time-out. */
    private static final Duration IN_TIME = Duration.ofSeconds(60);

    /** Records the threads that execute statements about resources, and can block one of them. */
    private static final class Threads extends StatementLog {
        private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        private final AtomicInteger connections = new AtomicInteger();
        private final AtomicReference<@Nullable Gate> gate = new AtomicReference<>();
        private final AtomicBoolean interruptsNext = new AtomicBoolean();

        Threads(String url) {
            super(url);
        }

        @Override
        public Connection getConnection() throws SQLException {
            connections.incrementAndGet();
            return super.getConnection();
        }

        @Override
        public Object call(Connection connection, String text, Call call) throws Throwable {
            if (text.contains("holdfast_resource")) {
                threads.add(Thread.currentThread());
                Gate present = gate.getAndSet(null);
                if (present != null) {
                    present.pass();
                }
                if (interruptsNext.getAndSet(false)) {
                    Thread.currentThread().interrupt();
                }
            }
            return super.call(connection, text, call);
        }

        /** Blocks the next statement about a resource. */
        Gate holdUpNext() {
            Gate next = new Gate();
            gate.set(next);
            return next;
        }

        /** The statements in between, except those about sessions only. */
        List<String> between(int from, int to) {
            return said().subList(from, to).stream()
                    .filter(text -> text.contains("holdfast_resource") || text.equals("commit"))
                    .toList();
        }
    }

    private static final class Gate {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CountDownLatch open = new CountDownLatch(1);

        void pass() throws InterruptedException {
            reached.countDown();
            assertThat(open.await(1, TimeUnit.MINUTES)).isTrue();
        }

        void awaitReached() throws InterruptedException {
            assertThat(reached.await(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    private static JdbcStore open(StatementLog source) {
        return JdbcStore.builder(source).keepsConnections().open();
    }

    private static <T> FutureTask<T> begin(Callable<T> work) {
        FutureTask<T> task = new FutureTask<>(work);
        new Thread(task, "caller").start();
        return task;
    }

    @OnEachServer
    @DisplayName("if its lane is idle; what is asynchronous goes by a thread of the store")
    void ofItsOwn(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store).build()) {
            log.threads.clear();
            client.lock("order").acquire().close();
            assertThat(log.threads).isNotEmpty().containsOnly(Thread.currentThread());
            log.threads.clear();

            Hold hold =
                    client.lock("order").acquireAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
            assertThat(log.threads).isNotEmpty().doesNotContain(Thread.currentThread());
            hold.releaseAsync().toCompletableFuture().get(1, TimeUnit.MINUTES);
            assertThat(log.threads).doesNotContain(Thread.currentThread());
        }
    }

    @OnEachServer
    @DisplayName("through a store that is opened when it is first used, too")
    void openedLater(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (LockStore store = JdbcStore.builder(log).keepsConnections().openLater();
                Holdfast client = Holdfast.builder(store).build()) {
            client.lock("order").acquire().close();
            log.threads.clear();
            client.lock("order").acquire().close();
            assertThat(log.threads).isNotEmpty().containsOnly(Thread.currentThread());
        }
    }

    @OnEachServer
    @DisplayName("but for what takes a transaction: a thread of the store goes on with the same statements")
    void takenByAnother(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                JdbcStore another = open(new StatementLog(log.url()));
                Holdfast client = Holdfast.builder(store).build();
                Holdfast other = Holdfast.builder(another).build();
                Hold one = other.lock("one").acquire();
                Hold two = other.lock("two").acquire()) {
            log.threads.clear();
            int since = log.said().size();
            assertThat(client.lock("one").tryAcquire()).isEmpty();
            assertThat(log.threads).hasSizeGreaterThan(2).startsWith(Thread.currentThread());
            assertThat(log.threads.stream().skip(2)).doesNotContain(Thread.currentThread());

            int before = log.said().size();
            CompletableFuture<Hold> refused = client.lock("two")
                    .acquireAsync(AcquireOptions.defaults().withMaxWait(Duration.ZERO))
                    .toCompletableFuture();
            assertThatThrownBy(() -> refused.get(1, TimeUnit.MINUTES))
                    .hasCauseInstanceOf(LockWaitTimeoutException.class);
            assertThat(log.between(since, before))
                    .isEqualTo(log.between(before, log.said().size()));
            assertThat(one.isHeld() && two.isHeld()).isTrue();
        }
    }

    @OnEachServer
    @DisplayName("and nobody else's: what comes meanwhile is left to a thread of the store")
    void notThoseOfOthers(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store).build()) {
            client.lock("first").acquire().close();
            log.threads.clear();
            Gate gate = log.holdUpNext();
            FutureTask<Hold> first = begin(() -> client.lock("first").acquire());
            gate.awaitReached();
            List<CompletableFuture<Hold>> meanwhile = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                meanwhile.add(client.lock("other-" + i).acquireAsync().toCompletableFuture());
            }
            assertThat(log.threads).hasSize(1);
            gate.open.countDown();
            first.get(1, TimeUnit.MINUTES);
            for (CompletableFuture<Hold> other : meanwhile) {
                other.get(1, TimeUnit.MINUTES);
            }
            Thread caller = log.threads.poll();
            assertThat(log.threads).isNotEmpty().doesNotContain(caller);
        }
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("and keep-alives go on beside it")
    void keepAlivesGoOn(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(Duration.ofSeconds(6))
                        .build();
                Hold hold = client.lock("first").acquire()) {
            Gate gate = log.holdUpNext();
            FutureTask<Hold> caller = begin(() -> client.lock("second").acquire());
            gate.awaitReached();
            long since = renewals(log);
            Awaitility.await("keep-alives")
                    .atMost(IN_TIME)
                    .pollInterval(5, TimeUnit.MILLISECONDS)
                    .until(() -> renewals(log) >= since + 3);
            gate.open.countDown();
            assertThat(caller.get(1, TimeUnit.MINUTES)).isNotNull();
            assertThat(hold.isHeld()).isTrue();
        }
    }

    private static long renewals(StatementLog log) {
        return log.said().stream()
                .filter(text -> text.startsWith("UPDATE") && !text.contains("holdfast_resource"))
                .count();
    }

    @OnEachServer
    @DisplayName("an interrupt has no effect until the answer is there, and costs no connection")
    void interrupted(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store).build()) {
            client.lock("first").acquire().close();
            log.threads.clear();
            int connections = log.connections.get();
            log.interruptsNext.set(true);
            try (Hold hold = client.lock("first").acquire()) {
                assertThat(Thread.interrupted()).isTrue();
                assertThat(hold.isHeld()).isTrue();
                log.interruptsNext.set(true);
            }
            assertThat(Thread.interrupted()).isTrue();
            client.lock("first").acquire().close();
            assertThat(log.threads).containsOnly(Thread.currentThread());
            assertThat(log.connections).hasValue(connections);
        }
    }

    @OnEachServer
    @DisplayName("unless it is a virtual thread, whose interrupt would end the connection")
    void virtualThreads(TestDatabase database) throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "this Java has no virtual threads");
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store).build()) {
            AtomicReference<@Nullable Thread> caller = new AtomicReference<>();
            FutureTask<Boolean> pair = new FutureTask<>(() -> {
                caller.set(Thread.currentThread());
                client.lock("first").acquire().close();
                return true;
            });
            // By reflection, because this is compiled for Java 17.
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, pair);
            assertThat(pair.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(log.threads).isNotEmpty().doesNotContain(caller.get());
        }
    }

    private static int port(String jdbc) {
        return URI.create(jdbc.substring("jdbc:".length())).getPort();
    }

    private static StatementLog through(FaultProxy proxy, String jdbc) {
        return new StatementLog(jdbc.replaceFirst("//[^/]*/", "//127.0.0.1:" + proxy.port() + "/"));
    }

    /** Runs on a separate thread, which only the store ends. */
    private static void endsInTime(Callable<?> call) {
        FutureTask<?> task = begin(call);
        assertThatThrownBy(() -> task.get(IN_TIME.toSeconds(), TimeUnit.SECONDS))
                .hasCauseInstanceOf(StoreUnavailableException.class);
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("a silent server keeps no caller longer than the store time-out, and what came of it is settled")
    void silentServer(TestDatabase database) throws Exception {
        String url = database.newUrl();
        try (FaultProxy proxy = FaultProxy.to(port(url));
                JdbcStore store = open(through(proxy, url));
                JdbcStore direct = open(new StatementLog(url));
                Holdfast other = Holdfast.builder(direct).build();
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(Duration.ofMinutes(10))
                        .storeTimeout(Duration.ofSeconds(3))
                        .build()) {
            client.lock("first").acquire().close();
            proxy.swallow(FaultProxy.Direction.TO_CLIENT);
            endsInTime(() -> client.lock("no-wait").tryLock());
            endsInTime(() -> client.lock("short").acquire(Duration.ofMillis(50)));
            endsInTime(() -> client.lock("unbounded").acquire());
            proxy.heal();
            for (String name : List.of("no-wait", "short", "unbounded")) {
                other.lock(name).acquire(IN_TIME).close();
            }
        }
    }

    @OnEachServer
    @MostlyWaits
    @DisplayName("a client and its store close in time while a caller waits for a silent server")
    void closedMeanwhile(TestDatabase database) throws Exception {
        String url = database.newUrl();
        try (FaultProxy proxy = FaultProxy.to(port(url))) {
            StatementLog source = through(proxy, url);
            Threads log = new Threads(source.url());
            JdbcStore store = open(log);
            Holdfast client =
                    Holdfast.builder(store).storeTimeout(Duration.ofSeconds(3)).build();
            client.lock("first").acquire().close();
            proxy.swallow(FaultProxy.Direction.TO_CLIENT);
            Gate gate = log.holdUpNext();
            FutureTask<Hold> caller = begin(() -> client.lock("second").acquire());
            gate.awaitReached();
            gate.open.countDown();
            long began = System.nanoTime();
            client.close();
            store.close();
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(IN_TIME);
            assertThatThrownBy(() -> caller.get(IN_TIME.toSeconds(), TimeUnit.SECONDS))
                    .hasCauseInstanceOf(RuntimeException.class);
        }
    }

    @OnEachServer
    @DisplayName("a thousand callers are all served")
    void thousandCallers(TestDatabase database) throws Exception {
        Threads log = new Threads(database.newUrl());
        try (JdbcStore store = open(log);
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(Duration.ofMinutes(2))
                        .storeTimeout(IN_TIME)
                        .build()) {
            List<FutureTask<Boolean>> callers = new ArrayList<>();
            for (int i = 0; i < 1_000; i++) {
                String name = "of-" + i % 700;
                callers.add(begin(() -> {
                    client.lock(name).acquire().close();
                    client.lock("own-" + Thread.currentThread().getId())
                            .acquire()
                            .close();
                    return true;
                }));
            }
            for (FutureTask<Boolean> caller : callers) {
                assertThat(caller.get(2, TimeUnit.MINUTES)).isTrue();
            }
        }
    }
}
