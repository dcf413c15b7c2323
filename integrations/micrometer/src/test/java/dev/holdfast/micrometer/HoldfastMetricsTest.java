package dev.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Deadlock;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Permits;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.test.TestStore;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The meters of a client")
class HoldfastMetricsTest {

    private static final AcquireOptions BRIEFLY = AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(2));

    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);
    private final TestStore store = TestStore.create(builder -> builder.listener(HoldfastMetrics.of(registry)));
    private final DistributedLock lock = store.client().lock("ledger");

    @AfterEach
    void close() {
        store.close();
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    private long waits(String outcome) {
        double counted = registry.get("holdfast.acquisitions")
                .tag("outcome", outcome)
                .functionCounter()
                .count();
        assertThat(registry.get("holdfast.wait").tag("outcome", outcome).timer().count())
                .isEqualTo((long) counted);
        return (long) counted;
    }

    @Test
    @DisplayName("time the wait and the hold, and gauge what is held and waited for")
    void granted() throws Exception {
        Hold hold = lock.acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        assertThat(gauge("holdfast.held")).isEqualTo(1);
        assertThat(gauge("holdfast.waiting")).isEqualTo(1);
        clock.add(Duration.ofSeconds(3));
        hold.close();
        Hold next = waiting.get(60, TimeUnit.SECONDS);
        // The thread that completes the stage tells of the grant, maybe after that.
        await().atMost(60, TimeUnit.SECONDS)
                .untilAsserted(() -> assertThat(waits("handed-over")).isEqualTo(1));
        assertThat(gauge("holdfast.waiting")).isZero();
        clock.add(Duration.ofSeconds(4));
        next.close();
        assertThat(gauge("holdfast.held")).isZero();
        assertThat(waits("granted")).isEqualTo(1);
        assertThat(registry.get("holdfast.wait")
                        .tag("outcome", "handed-over")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(3);
        assertThat(registry.get("holdfast.hold")
                        .tags("outcome", "released", "kind", "mutex")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(7);
    }

    @Test
    @DisplayName("count a hand-over that nobody waited for, and do not time it as a wait")
    void handedOverAtOnce() throws Exception {
        Hold hold = lock.acquire();
        CompletableFuture<Hold> waiting = lock.acquireAsync().toCompletableFuture();
        hold.close();
        waiting.get(60, TimeUnit.SECONDS).close();
        // As above.
        await().atMost(60, TimeUnit.SECONDS)
                .untilAsserted(() -> assertThat(registry.get("holdfast.acquisitions")
                                .tag("outcome", "handed-over")
                                .functionCounter()
                                .count())
                        .isEqualTo(1));
        assertThat(registry.get("holdfast.wait")
                        .tag("outcome", "handed-over")
                        .timer()
                        .count())
                .isZero();
        assertThat(registry.get("holdfast.hold")
                        .tag("outcome", "released")
                        .timer()
                        .count())
                .isEqualTo(2);
    }

    @Test
    @DisplayName("count a try in vain, a wait that timed out, one that was cancelled, and one that failed")
    void inVain() throws Exception {
        Hold other = store.take("ledger");
        assertThat(lock.tryAcquire()).isEmpty();
        assertThatThrownBy(() -> store.callWhileTimePasses(() -> lock.acquire(BRIEFLY)))
                .isInstanceOf(LockWaitTimeoutException.class);
        assertThat(lock.acquireAsync().toCompletableFuture().cancel(false)).isTrue();
        store.goSilent();
        assertThatThrownBy(() -> store.callWhileTimePasses(lock::acquire))
                .isInstanceOf(StoreUnavailableException.class);
        store.recover();
        other.close();
        assertThat(waits("taken")).isEqualTo(1);
        assertThat(waits("timed-out")).isEqualTo(1);
        assertThat(waits("cancelled")).isEqualTo(1);
        assertThat(waits("failed")).isEqualTo(1);
        assertThat(waits("granted")).isZero();
        assertThat(gauge("holdfast.waiting")).isZero();
        assertThat(gauge("holdfast.held")).isZero();
    }

    @Test
    @DisplayName("count a loss by its cause, and the hold is no longer held before its owner lets go")
    void lost() throws Exception {
        Hold hold = lock.acquire();
        store.loseLock("ledger");
        assertThat(registry.get("holdfast.losses")
                        .tag("cause", "removed")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("holdfast.losses")
                        .tag("cause", "expired")
                        .counter()
                        .count())
                .isZero();
        assertThat(gauge("holdfast.held")).isZero();
        hold.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        assertThat(gauge("holdfast.held")).isZero();
        assertThat(registry.get("holdfast.hold").tag("outcome", "lost").timer().count())
                .isEqualTo(1);
    }

    @Test
    @DisplayName("count renewals and the events of sessions, and gauge their state and age")
    void sessions() {
        assertThat(gauge("holdfast.sessions", "state", "live")).isEqualTo(1);
        store.advance(Duration.ofSeconds(25));
        assertThat(sessionEvents("renewed")).isEqualTo(2);
        clock.add(Duration.ofSeconds(7));
        assertThat(registry.get("holdfast.session.age").timeGauge().value(TimeUnit.SECONDS))
                .isEqualTo(7);
        store.goSilent();
        store.advance(Duration.ofSeconds(60));
        assertThat(gauge("holdfast.sessions", "state", "live")).isZero();
        assertThat(gauge("holdfast.sessions", "state", "lost")).isEqualTo(1);
        assertThat(registry.get("holdfast.session.events")
                        .tags("event", "lost", "cause", "expired")
                        .counter()
                        .count())
                .isEqualTo(1);
        store.recover();
        store.advance(Duration.ofSeconds(10));
        assertThat(gauge("holdfast.sessions", "state", "live")).isEqualTo(1);
        assertThat(gauge("holdfast.sessions", "state", "lost")).isZero();
        store.client().close();
        assertThat(gauge("holdfast.sessions", "state", "live")).isZero();
    }

    @Test
    @DisplayName("count deadlocks")
    void deadlocks() {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        HoldfastMetrics metrics = HoldfastMetrics.of(own);
        Deadlock.Member member =
                new Deadlock.Member("alice", "s", "one", "a", 1, "", "b", false, Duration.ofSeconds(1), false);
        metrics.onDeadlock(new Deadlock(List.of(member, member)));
        metrics.onDeadlock(new Deadlock(List.of(member, member)));
        assertThat(own.get("holdfast.deadlocks").counter().count()).isEqualTo(2);
    }

    @Test
    @DisplayName("time the runs of tasks, and gauge when each last began and ended, for a bounded number of names")
    void tasks() {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        TaskMeters meters = new TaskMeters(own, "orders", 2);
        Instant start = Instant.ofEpochSecond(1_000);
        meters.ended("a", run(RecordedRun.Outcome.SUCCEEDED, start, start.plusSeconds(5)));
        meters.ended("a", run(RecordedRun.Outcome.FAILED, start.plusSeconds(10), start.plusSeconds(12)));
        meters.ended("b", run(RecordedRun.Outcome.LOST, start, start.minusSeconds(1)));
        meters.ended("c", run(RecordedRun.Outcome.SUCCEEDED, start, start.plusSeconds(5)));
        meters.ended("d", run(RecordedRun.Outcome.SUCCEEDED, null, null));
        assertThat(own.get("holdfast.task.runs")
                        .tags("task", "a", "outcome", "succeeded")
                        .timer()
                        .totalTime(TimeUnit.SECONDS))
                .isEqualTo(5);
        assertThat(own.get("holdfast.task.runs").tags("task", "other").timer().count())
                .isEqualTo(2);
        assertThat(own.get("holdfast.task.last.start")
                        .tags("task", "a", "client", "orders")
                        .timeGauge()
                        .value(TimeUnit.SECONDS))
                .isEqualTo(1_010);
        assertThat(own.get("holdfast.task.last.end")
                        .tags("task", "a", "outcome", "succeeded")
                        .timeGauge()
                        .value(TimeUnit.SECONDS))
                .isEqualTo(1_005);
        assertThat(own.get("holdfast.task.last.end")
                        .tags("task", "a", "outcome", "failed")
                        .timeGauge()
                        .value(TimeUnit.SECONDS))
                .isEqualTo(1_012);
        assertThat(own.find("holdfast.task.last.end").tags("task", "other").timeGauge())
                .isNull();

        store.client().task("report").runIfDue(TaskOptions.atMost(Duration.ofMinutes(1)), hold -> {});
        assertThat(registry.get("holdfast.task.runs")
                        .tags("task", "report")
                        .timer()
                        .count())
                .isEqualTo(1);
    }

    private static RecordedRun run(RecordedRun.Outcome outcome, @Nullable Instant start, @Nullable Instant end) {
        return new RecordedRun(1, outcome, start, end, "ann", "");
    }

    private double sessionEvents(String event) {
        return registry.get("holdfast.session.events")
                .tag("event", event)
                .counter()
                .count();
    }

    @Test
    @DisplayName("gauge a session that is in doubt until the doubt is settled, and not until a renewal before that")
    void doubt() {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        HoldfastMetrics metrics = HoldfastMetrics.of(own);
        metrics.onSession(event(SessionEvent.Type.OPENED));
        metrics.onSession(event(SessionEvent.Type.IN_DOUBT));
        metrics.onSession(event(SessionEvent.Type.RENEWED));
        assertThat(sessions(own, "in-doubt")).isEqualTo(1);
        assertThat(sessions(own, "live")).isZero();
        metrics.onSession(event(SessionEvent.Type.SETTLED));
        assertThat(sessions(own, "in-doubt")).isZero();
        assertThat(sessions(own, "live")).isEqualTo(1);
    }

    private static SessionEvent event(SessionEvent.Type type) {
        return new SessionEvent(type, "memory", 0, Optional.empty());
    }

    private static double sessions(SimpleMeterRegistry registry, String state) {
        return registry.get("holdfast.sessions").tag("state", state).gauge().value();
    }

    @Test
    @DisplayName("time each command to the store, by its name and how it ended")
    void storeCalls() throws Exception {
        lock.acquire().close();
        assertThat(calls("acquire", "answered")).isEqualTo(1);
        assertThat(calls("release", "answered")).isEqualTo(1);
        store.goSilent();
        store.advance(Duration.ofSeconds(20));
        assertThat(calls("keep-alive", "timed-out")).isPositive();
        store.recover();
    }

    private long calls(String command, String outcome) {
        return registry.get("holdfast.store.calls")
                .tags("command", command, "outcome", outcome)
                .timer()
                .count();
    }

    @Test
    @DisplayName("are as many after a thousand names as after one, and none is tagged with a name")
    void boundedByDefault() throws Exception {
        lock.acquire().close();
        int before = registry.getMeters().size();
        for (int i = 0; i < 1_000; i++) {
            store.client().lock("user/" + i).acquire().close();
        }
        assertThat(registry.getMeters()).hasSize(before);
        assertThat(tagKeys()).doesNotContain("lock");
    }

    private List<String> tagKeys() {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .flatMap(id -> id.getTags().stream().map(Tag::getKey))
                .distinct()
                .toList();
    }

    @Test
    @DisplayName("are tagged with the names that are listed, and with other for all others")
    void allowList() throws Exception {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        HoldfastMetrics metrics = HoldfastMetrics.builder(own)
                .client("orders")
                .lockNames(List.of("ledger"))
                .build();
        try (Holdfast client = store.builder().listener(metrics).build()) {
            client.lock("ledger").acquire().close();
            client.lock("user/1").acquire().close();
            client.lock("user/2").acquire().close();
        }
        assertThat(own.get("holdfast.wait")
                        .tags("lock", "ledger", "outcome", "granted", "client", "orders")
                        .timer()
                        .count())
                .isEqualTo(1);
        assertThat(own.get("holdfast.wait")
                        .tags("lock", "other", "outcome", "granted")
                        .timer()
                        .count())
                .isEqualTo(2);
    }

    @Test
    @DisplayName("refuse a list without end, and a client without a name")
    void refusals() {
        List<String> many =
                IntStream.rangeClosed(0, 1_000).mapToObj(i -> "user/" + i).toList();
        assertThatThrownBy(() -> HoldfastMetrics.builder(registry).lockNames(many))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("1000", "1001");
        assertThatThrownBy(() -> HoldfastMetrics.builder(registry).client(" "))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("of permits are of another kind, and their gauges count holds")
    void kinds() throws Exception {
        List<Permits> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(store.client().semaphore("gpu", 3).acquire());
        }
        assertThat(gauge("holdfast.held")).isEqualTo(3);
        all.forEach(Permits::close);
        assertThat(registry.get("holdfast.wait")
                        .tags("kind", "semaphore", "outcome", "granted")
                        .timer()
                        .count())
                .isEqualTo(3);
    }

    @Test
    @DisplayName("that a filter denies cost nobody a lock")
    void denied() throws Exception {
        SimpleMeterRegistry own = new SimpleMeterRegistry();
        own.config().meterFilter(MeterFilter.denyNameStartsWith("holdfast"));
        try (Holdfast client = store.builder().listener(HoldfastMetrics.of(own)).build()) {
            client.lock("ledger").acquire().close();
        }
        assertThat(own.getMeters()).isEmpty();
    }
}
