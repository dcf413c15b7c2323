package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

@DisplayName("A method with @ScheduledLock")
class ScheduledLockTest {

    private final World world = new World();

    @AfterEach
    void close() throws Exception {
        world.close();
    }

    static class Reports {

        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @ScheduledLock(name = "plain", atMost = "1h")
        void plain() {
            CurrentLocks.ensureHeld("plain");
            runs.incrementAndGet();
        }

        @ScheduledLock(name = "report-#{environment['region']}", atMost = "#{2 * 3}s")
        String evaluated() {
            return CurrentLocks.names().toString();
        }

        @ScheduledLock(name = "long", atMost = "1s")
        Boolean longer() {
            CurrentLocks.extend(TaskOptions.atMost(Duration.ofHours(2)).withAtLeast(Duration.ofHours(1)));
            return CurrentLocks.hold().remaining().compareTo(Duration.ofHours(1)) > 0;
        }

        @ScheduledLock(name = "seldom", atMost = "${at.most}", atLeast = "${at.least}")
        Optional<String> seldom() {
            runs.incrementAndGet();
            return Optional.of("done");
        }

        @ScheduledLock(name = "failing", atMost = "1h")
        void failing() throws Exception {
            throw new Exception("checked");
        }

        @ScheduledLock(name = "stage", atMost = "1h")
        CompletionStage<String> stage(CompletableFuture<String> work) {
            runs.incrementAndGet();
            return work;
        }

        @ScheduledLock(name = "mono", atMost = "1h", atLeast = "1h")
        Mono<String> mono(Mono<String> work) {
            runs.incrementAndGet();
            return work;
        }
    }

    private Reports reports() {
        return world.start(Map.of("at.most", "PT1H", "at.least", "30m"), Reports.class)
                .getBean(Reports.class);
    }

    private boolean isDue(String job) {
        return world.other
                .task(job)
                .runIfDue(TaskOptions.atMost(Duration.ofHours(1)), hold -> {})
                .hasRun();
    }

    @Test
    @DisplayName("is run by one process, and skipped by the others meanwhile")
    void skips() throws Exception {
        Reports reports = reports();
        TaskRun<?> run = world.other.task("plain").callIfDue(TaskOptions.atMost(Duration.ofHours(1)), hold -> {
            reports.plain();
            return null;
        });
        assertThat(run.hasRun()).isTrue();
        assertThat(reports.runs()).isZero();
        reports.plain();
        reports.plain();
        assertThat(reports.runs()).isEqualTo(2);
        assertThat(isDue("plain")).isTrue();
    }

    @Test
    @DisplayName("keeps its lock for the least time, in which it answers what stands for nothing")
    void atLeast() {
        Reports reports = reports();
        assertThat(reports.seldom()).hasValue("done");
        assertThat(reports.seldom()).isEmpty();
        assertThat(reports.runs()).isEqualTo(1);
        assertThat(isDue("seldom")).isFalse();
    }

    @Test
    @DisplayName("throws what it throws, and gives the lock back")
    void fails() {
        Reports reports = reports();
        assertThatThrownBy(reports::failing)
                .isExactlyInstanceOf(Exception.class)
                .hasMessage("checked");
        assertThat(isDue("failing")).isTrue();
    }

    @Test
    @DisplayName("has ended when its stage or Mono has")
    void asynchronous() {
        Reports reports = reports();
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> first = reports.stage(work).toCompletableFuture();
        await().until(() -> reports.runs() == 1);
        assertThat(isDue("stage")).isFalse();
        assertThat(reports.stage(work).toCompletableFuture().join()).isNull();
        work.complete("done");
        assertThat(first.join()).isEqualTo("done");
        assertThat(isDue("stage")).isTrue();

        Mono<String> mono = reports.mono(Mono.deferContextual(context -> Mono.just(context.get("tenant"))))
                .contextWrite(context -> context.put("tenant", "acme"));
        assertThat(reports.runs()).isEqualTo(1);
        assertThat(mono.block()).isEqualTo("acme");
        assertThat(mono.blockOptional()).isEmpty();
        assertThat(reports.runs()).isEqualTo(2);
    }

    @Test
    @DisplayName("is not run without its client")
    void closedClient() {
        var context = world.start(Map.of("at.most", "1h", "at.least", "0s"), Reports.class);
        context.getBean(Holdfast.class).close();
        Reports reports = context.getBean(Reports.class);
        assertThatThrownBy(reports::plain).isInstanceOf(ClientClosedException.class);
        assertThat(reports.runs()).isZero();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Scheduling {}

    static class Ticking {

        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @Scheduled(fixedRate = 10)
        @ScheduledLock(name = "tick", atMost = "1h", atLeast = "1h")
        void tick() {
            runs.incrementAndGet();
        }

        @Scheduled(fixedRate = 10)
        @ScheduledLock(name = "tock", atMost = "1h")
        void tock() {
            runs.addAndGet(1_000);
        }
    }

    @Test
    @DisplayName("works with @Scheduled")
    void scheduled() {
        Ticking ticking = world.start(Scheduling.class, Ticking.class).getBean(Ticking.class);
        await().until(() -> ticking.runs() > 3_000);
        assertThat(ticking.runs() % 1_000).isEqualTo(1);
    }

    @Test
    @DisplayName("that fails on each tick throws each time, and from the second time on without a stack trace")
    void failsRepeatedly() throws Exception {
        RefusingStore store = new RefusingStore();
        AnnotationConfigApplicationContext context =
                world.unstarted(Map.of("at.most", "PT1H", "at.least", "0s"), World.Enabled.class, Reports.class);
        context.registerBean(
                "holdfast", Holdfast.class, () -> Holdfast.builder(store).build());
        context.refresh();
        Reports reports = context.getBean(Reports.class);
        reports.plain();
        store.refuses = true;
        Throwable first = catchThrowable(reports::plain);
        assertThat(first).isInstanceOf(StoreRefusedException.class).hasCauseInstanceOf(StoreException.class);
        assertThat(first.getStackTrace()).isNotEmpty();
        assertShort(catchThrowable(reports::plain), 2);
        assertShort(catchThrowable(reports::plain), 3);
        CompletableFuture<String> work = CompletableFuture.completedFuture("done");
        assertThat(catchThrowable(
                        () -> reports.stage(work).toCompletableFuture().join()))
                .cause()
                .hasCauseInstanceOf(StoreException.class);
        assertShort(
                catchThrowable(() -> reports.stage(work).toCompletableFuture().join())
                        .getCause(),
                2);
        store.refuses = false;
        reports.plain();
        assertThat(reports.stage(work).toCompletableFuture().join()).isEqualTo("done");
        store.refuses = true;
        assertThat(catchThrowable(reports::plain)).hasCauseInstanceOf(StoreException.class);
    }

    private static void assertShort(Throwable failure, int inRow) {
        assertThat(failure)
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("failure " + inRow + " in a row")
                .hasNoCause();
        assertThat(failure.getStackTrace()).isEmpty();
    }

    /** Refuses tries while it is told to. */
    private static final class RefusingStore extends ForwardingStore {
        private volatile boolean refuses;

        RefusingStore() {
            super(new ReferenceStore());
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            return refuses && command instanceof Command.Acquire
                    ? CompletableFuture.failedFuture(new StoreException(
                            StoreException.Reason.DENIED, StoreException.Effect.NONE, "the disk is full", null))
                    : super.execute(command, caller);
        }
    }

    static class NoTime {
        @ScheduledLock(name = "a", atMost = "")
        void run() {}
    }

    static class NoName {
        @ScheduledLock(atMost = "1h")
        void run() {}
    }

    static class LeastAboveMost {
        @ScheduledLock(name = "a", atMost = "1m", atLeast = "2m")
        void run() {}
    }

    static class ShortMost {
        @ScheduledLock(name = "a", atMost = "1ms")
        void run() {}
    }

    static class ReturnsNumber {
        @ScheduledLock(name = "a", atMost = "1m")
        int run() {
            return 1;
        }
    }

    static class Private {
        @ScheduledLock(name = "a", atMost = "1m")
        private void run() {}
    }

    static class CallsItself {
        @ScheduledLock(name = "a", atMost = "1m")
        void run() {}

        void now() {
            run();
        }
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                Arguments.of(NoTime.class, "atMost is not set"),
                Arguments.of(NoName.class, "it has no name"),
                Arguments.of(LeastAboveMost.class, "atLeast must be between zero and atMost"),
                Arguments.of(ShortMost.class, "atMost"),
                Arguments.of(ReturnsNumber.class, "no int to return"),
                Arguments.of(Private.class, "private method"),
                Arguments.of(CallsItself.class, "calls it, in now"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("mistakes")
    @DisplayName("is refused at the start if it can't be carried out")
    void refused(Class<?> mistake, String words) {
        assertThatThrownBy(() -> world.start(mistake)).hasStackTraceContaining(words);
    }

    @Test
    @DisplayName("can take longer than it was to, and keep its name for longer, if it says so on the way")
    void extended() {
        assertThat(reports().longer()).isTrue();
        assertThat(isDue("long")).isFalse();
        assertThatThrownBy(() -> CurrentLocks.extend(TaskOptions.atMost(Duration.ofHours(1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("does not run a job");
    }

    @Test
    @DisplayName("has a name that is evaluated when the application starts")
    void evaluated() {
        Map<String, Object> properties = Map.of("at.most", "PT1H", "at.least", "30m", "region", "eu");
        assertThat(world.start(properties, Reports.class).getBean(Reports.class).evaluated())
                .isEqualTo("[report-eu]");
    }
}
