package dev.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.spring.CurrentLocks;
import dev.holdfast.spring.Locked;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;

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
}
