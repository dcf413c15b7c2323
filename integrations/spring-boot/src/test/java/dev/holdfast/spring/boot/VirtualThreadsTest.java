package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Needs a JDK that has virtual threads; {@code .ci/run} takes one for its second part. */
@DisplayName("With spring.threads.virtual.enabled, locked methods")
class VirtualThreadsTest {

    private static final int TASKS = 40;

    @BeforeEach
    void needsVirtualThreads() {
        assumeThat(Runtime.version().feature())
                .as("the version of the JVM that has virtual threads")
                .isGreaterThanOrEqualTo(21);
    }

    /** What two applications count together, without any lock but that of the annotation. */
    static class Counter {
        private static int total;
        private final Set<String> threads = ConcurrentHashMap.newKeySet();

        @Locked(name = "counter", maxWait = "60s")
        public long count() {
            threads.add(Thread.currentThread().toString());
            total++;
            return CurrentLocks.fencingToken();
        }

        /** Those that have counted in this application; asked for by a method, since the bean is a proxy. */
        public Set<String> threads() {
            return threads;
        }
    }

    @Test
    @DisplayName("exclude each other, in one application and between two, however few carriers there are")
    void exclude(@TempDir Path directory) {
        Counter.total = 0;
        ApplicationContextRunner application = new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(HoldfastAutoConfiguration.class, TaskExecutionAutoConfiguration.class))
                .withPropertyValues(
                        "spring.threads.virtual.enabled=true",
                        "holdfast.store=sqlite:" + directory.resolve("locks.db"),
                        "holdfast.store-timeout=1m")
                .withBean(Counter.class);
        application.run(one -> application.run(two -> {
            List<Future<Long>> tokens = new ArrayList<>();
            for (int i = 0; i < TASKS; i++) {
                tokens.add(counts(one));
                tokens.add(counts(two));
            }
            for (Future<Long> each : tokens) {
                assertThat(each.get(60, TimeUnit.SECONDS)).isPositive();
            }
            assertThat(Counter.total).isEqualTo(2 * TASKS);
            assertThat(one.getBean(Counter.class).threads())
                    .isNotEmpty()
                    .allSatisfy(thread -> assertThat(thread).startsWith("VirtualThread"));
        }));
    }

    private static Future<Long> counts(ApplicationContext application) {
        Counter counter = application.getBean(Counter.class);
        return application.getBean(AsyncTaskExecutor.class).submit(counter::count);
    }

    /** Starts tasks, each with the lock of its name, that end when they may. */
    static class Tasks {

        private final BlockingQueue<Hold> begun = new LinkedBlockingQueue<>();
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        private boolean work() throws InterruptedException {
            Hold hold = CurrentLocks.hold();
            begun.add(hold);
            mayEnd.await();
            return hold.isHeld() && Thread.currentThread().toString().startsWith("VirtualThread");
        }

        @Async
        @Locked("nothing")
        public void nothing() throws InterruptedException {
            var unused = work();
        }

        @Async
        @Locked("async")
        public CompletableFuture<Boolean> async() throws InterruptedException {
            return CompletableFuture.completedFuture(work());
        }

        @Locked("stage")
        public CompletableFuture<Boolean> stage() throws InterruptedException {
            return CompletableFuture.completedFuture(work());
        }

        /** Waits for a task to begin. */
        public Hold begun() throws InterruptedException {
            return Objects.requireNonNull(begun.poll(30, TimeUnit.SECONDS), "a task");
        }

        public void mayEnd() {
            mayEnd.countDown();
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAsync
    @ImportAutoConfiguration({HoldfastAutoConfiguration.class, TaskExecutionAutoConfiguration.class})
    static class Application {
        @Bean
        Tasks tasks() {
            return new Tasks();
        }
    }

    private static ConfigurableApplicationContext start(String store, String... properties) {
        return new SpringApplicationBuilder(Application.class)
                .properties("spring.threads.virtual.enabled=true", "holdfast.store=" + store)
                .properties(properties)
                .run();
    }

    @Test
    @Timeout(180)
    @DisplayName("keep their locks to their end when the application ends")
    void keepAtShutdown(@TempDir Path directory) throws Exception {
        String store = "sqlite:" + directory.resolve("locks.db");
        ConfigurableApplicationContext context = start(store);
        Tasks tasks = context.getBean(Tasks.class);
        tasks.nothing();
        CompletableFuture<Boolean> async = tasks.async();
        CompletableFuture<Boolean> stage = tasks.stage();
        List<Hold> holds = List.of(tasks.begun(), tasks.begun(), tasks.begun());
        Thread closing = new Thread(context::close);
        closing.start();
        try (Holdfast other = Holdfast.connect(store)) {
            await().until(context::isClosed);
            // If nothing waits for the tasks, the client is closed within this time.
            closing.join(2_000);
            assertThat(holds).allMatch(Hold::isHeld);
            for (String each : List.of("nothing", "async", "stage")) {
                assertThat(other.lock(each).tryAcquire()).isEmpty();
            }
            tasks.mayEnd();
            assertThat(async.get(60, TimeUnit.SECONDS)).isTrue();
            assertThat(stage.get(60, TimeUnit.SECONDS)).isTrue();
            closing.join();
            for (String each : List.of("nothing", "async", "stage")) {
                assertThat(other.lock(each).tryAcquire()).isPresent();
            }
        }
    }

    @Test
    @Timeout(180)
    @DisplayName("lose their locks when they have not ended after the time for a phase of the shutdown")
    void boundedShutdown(@TempDir Path directory) throws Exception {
        String store = "sqlite:" + directory.resolve("locks.db");
        ConfigurableApplicationContext context = start(store, "spring.lifecycle.timeout-per-shutdown-phase=1s");
        Tasks tasks = context.getBean(Tasks.class);
        tasks.nothing();
        Hold hold = tasks.begun();
        context.close();
        assertThat(hold.isHeld()).isFalse();
        try (Holdfast other = Holdfast.connect(store)) {
            assertThat(other.lock("nothing").tryAcquire()).isPresent();
        }
        tasks.mayEnd();
    }
}
