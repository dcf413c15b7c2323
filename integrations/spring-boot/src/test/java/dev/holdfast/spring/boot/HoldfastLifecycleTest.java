package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

@DisplayName("When an application ends")
class HoldfastLifecycleTest {

    @SpringBootConfiguration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class Application {
        @Bean
        ThreadPoolTaskScheduler scheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        Probe first(Holdfast holdfast) {
            return new Probe(holdfast, SmartLifecycle.DEFAULT_PHASE);
        }

        @Bean
        Probe justBefore(Holdfast holdfast) {
            return new Probe(holdfast, HoldfastLifecycle.DEFAULT_PHASE + 1);
        }

        @Bean
        Probe justAfter(Holdfast holdfast) {
            return new Probe(holdfast, HoldfastLifecycle.DEFAULT_PHASE - 1);
        }
    }

    /** Tells how a lock can be had when a phase of the shutdown comes. */
    static final class Probe implements SmartLifecycle {
        private final Holdfast holdfast;
        private final int phase;
        private final CountDownLatch stopping = new CountDownLatch(1);
        private volatile boolean running;
        private volatile String seen = "nothing";

        Probe(Holdfast holdfast, int phase) {
            this.holdfast = holdfast;
            this.phase = phase;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            try (Hold hold = holdfast.lock("probe").tryAcquire().orElseThrow()) {
                seen = hold.isHeld() ? "held" : "lost";
            } catch (ClientClosedException e) {
                seen = "closed";
            }
            running = false;
            stopping.countDown();
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return phase;
        }
    }

    private static ConfigurableApplicationContext start(String store) {
        return new SpringApplicationBuilder(Application.class)
                .properties(Map.of("holdfast.store", store))
                .run();
    }

    @Test
    @DisplayName("a task in flight keeps its lock to its end, and gives it back before the store goes")
    void taskInFlight(@TempDir Path directory) throws Exception {
        String store = "sqlite:" + directory.resolve("locks.db");
        BlockingQueue<Object> results = new LinkedBlockingQueue<>();
        ConfigurableApplicationContext context = start(store);
        Holdfast holdfast = context.getBean(Holdfast.class);
        CountDownLatch stopping = context.getBean("first", Probe.class).stopping;
        try (Holdfast other = Holdfast.connect(store)) {
            CountDownLatch started = new CountDownLatch(1);
            var unused = context.getBean(ThreadPoolTaskScheduler.class)
                    .schedule(
                            () -> {
                                try (Hold hold = holdfast.lock("nightly-report").acquire()) {
                                    started.countDown();
                                    stopping.await();
                                    results.add(hold.isHeld());
                                    results.add(other.lock("nightly-report")
                                            .tryAcquire()
                                            .isPresent());
                                    results.add(hold.releaseAsync()
                                            .toCompletableFuture()
                                            .get());
                                } catch (Exception e) {
                                    results.add(e);
                                }
                            },
                            Instant.now());
            started.await();
            context.close();
            assertThat(List.copyOf(results)).containsExactly(true, false, ReleaseOutcome.RELEASED);
            assertThat(other.lock("nightly-report").tryAcquire()).isPresent();
            assertThat(holdfast).asString().contains("closed");
        }
    }

    @Test
    @DisplayName("locks can be had until the phase of Holdfast, and not after it")
    void phases() {
        ConfigurableApplicationContext context = start("memory:");
        List<Probe> probes = List.of(
                context.getBean("first", Probe.class),
                context.getBean("justBefore", Probe.class),
                context.getBean("justAfter", Probe.class));
        context.close();
        assertThat(probes).extracting(probe -> probe.seen).containsExactly("held", "held", "closed");
    }

    @Test
    @DisplayName("that phase is after schedulers and web servers, and before connections to Redis")
    void phaseAmongOthers() {
        assertThat(HoldfastLifecycle.DEFAULT_PHASE)
                .isLessThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE)
                .isLessThan(new ThreadPoolTaskScheduler().getPhase())
                // Listeners of Spring Integration and of messages are in the upper half.
                .isLessThan(Integer.MAX_VALUE / 2)
                .isGreaterThan(new LettuceConnectionFactory().getPhase());
    }

    @Test
    @DisplayName("the phase is what the property says")
    void ownPhase() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .properties(Map.of("holdfast.store", "memory:", "holdfast.shutdown-phase", "5"))
                .run()) {
            assertThat(context.getBean(HoldfastLifecycle.class).getPhase()).isEqualTo(5);
        }
    }

    @Test
    @DisplayName("only then: one that is stopped and started again goes on with its locks")
    void stoppedAndStarted() throws Exception {
        try (ConfigurableApplicationContext context = start("memory:")) {
            Hold hold = context.getBean(Holdfast.class).lock("nightly-report").acquire();
            context.stop();
            assertThat(hold.isHeld()).isTrue();
            context.start();
            assertThat(hold.isHeld()).isTrue();
            assertThat(hold.remaining()).isPositive();
        }
    }

    /** An application whose asynchronous tasks have threads that nothing waits for, as virtual ones are. */
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Tasks {

        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final BlockingQueue<Boolean> results = new LinkedBlockingQueue<>();

        @Bean
        SimpleAsyncTaskExecutor taskExecutor() {
            return new SimpleAsyncTaskExecutor("task-");
        }

        @Bean
        Task task() {
            return new Task(this);
        }
    }

    /** A task that goes on for a moment when the application ends. */
    static class Task {

        private final Tasks tasks;

        Task(Tasks tasks) {
            this.tasks = tasks;
        }

        @Async
        @Locked("task")
        void run() throws InterruptedException {
            Hold hold = CurrentLocks.hold();
            tasks.begun.countDown();
            tasks.mayEnd.await();
            tasks.results.add(hold.isHeld());
        }
    }

    @Test
    @Timeout(60)
    @DisplayName("an asynchronous task on a thread of its own keeps its lock to its end")
    void asynchronousTask(@TempDir Path directory) throws Exception {
        ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class, Tasks.class)
                .properties(Map.of("holdfast.store", "sqlite:" + directory.resolve("locks.db")))
                .run();
        Tasks tasks = context.getBean(Tasks.class);
        context.getBean(Task.class).run();
        assertThat(tasks.begun.await(10, TimeUnit.SECONDS)).isTrue();
        Holdfast holdfast = context.getBean(Holdfast.class);
        Thread closing = new Thread(context::close);
        closing.start();
        // If nothing waits for the task, the client is closed within this time.
        closing.join(2_000);
        assertThat(holdfast.toString()).doesNotContain("closed");
        tasks.mayEnd.countDown();
        closing.join();
        assertThat(tasks.results).containsExactly(true);
        assertThat(holdfast.toString()).contains("closed");
    }

    @Test
    @Timeout(60)
    @DisplayName("it waits for no callbacks that block, however many")
    void blockedCallbacks(@TempDir Path directory) throws Exception {
        ConfigurableApplicationContext context = start("sqlite:" + directory.resolve("locks.db"));
        Holdfast holdfast = context.getBean(Holdfast.class);
        CountDownLatch mayEnd = new CountDownLatch(1);
        for (int i = 0; i < 300; i++) {
            Hold first = holdfast.lock("lock" + i).acquire();
            var unused = holdfast.lock("lock" + i).acquireAsync().thenAccept(hold -> {
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            first.close();
        }
        context.close();
        assertThat(holdfast).asString().contains("closed");
        mayEnd.countDown();
    }

    @Test
    @DisplayName("holds that are left are given back, and their owners are told")
    void leftHolds(@TempDir Path directory) throws Exception {
        String store = "sqlite:" + directory.resolve("locks.db");
        ConfigurableApplicationContext context = start(store);
        CountDownLatch lost = new CountDownLatch(1);
        Hold hold =
                context.getBean(Holdfast.class).lock("nightly-report").acquire().onLost(loss -> lost.countDown());
        context.close();
        assertThat(lost.await(1, TimeUnit.MINUTES)).isTrue();
        assertThat(hold.isHeld()).isFalse();
        try (Holdfast other = Holdfast.connect(store)) {
            assertThat(other.lock("nightly-report").tryAcquire()).isPresent();
        }
    }
}
