package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import reactor.core.publisher.Mono;

@Timeout(60)
@DisplayName("The work of a locked method that returns a stage")
class AsyncThreadsTest {

    private static final ThreadLocal<String> USER = new ThreadLocal<>();

    private final World world = new World();

    private final AnnotationConfigApplicationContext context = world.start(Application.class, Outer.class, Inner.class);
    private final Outer outer = context.getBean(Outer.class);

    @AfterEach
    void close() throws Exception {
        USER.remove();
        world.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Application {

        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(2);
            executor.setThreadNamePrefix("app-");
            executor.setTaskDecorator(task -> {
                String user = USER.get();
                return () -> {
                    USER.set(user);
                    try {
                        task.run();
                    } finally {
                        USER.remove();
                    }
                };
            });
            return executor;
        }
    }

    static class Inner {

        @Locked(name = "inner", key = "#i")
        CompletableFuture<String> call(int i) {
            return CompletableFuture.completedFuture("inner" + i);
        }
    }

    static class Outer {

        private final Inner inner;

        Outer(Inner inner) {
            this.inner = inner;
        }

        private static CompletableFuture<String> where() {
            String thread = Thread.currentThread().getName();
            return CompletableFuture.completedFuture(
                    thread.substring(0, thread.indexOf('-')) + " " + USER.get() + " " + CurrentLocks.names());
        }

        @Locked(name = "job")
        CompletableFuture<String> plain() {
            return where();
        }

        @Async
        @Locked(name = "job")
        CompletableFuture<String> async() {
            return where();
        }

        @ScheduledLock(name = "task", atMost = "1m")
        CompletableFuture<String> task() {
            return where();
        }

        @Async
        @ScheduledLock(name = "asyncTask", atMost = "1m")
        CompletableFuture<String> asyncTask() {
            return where();
        }

        @Locked(name = "job", maxWait = "0s", fallback = "other")
        CompletableFuture<String> fallback() {
            return where();
        }

        CompletableFuture<String> other() {
            return where();
        }

        @Locked(name = "job")
        Mono<String> mono() {
            return Mono.fromFuture(Outer::where);
        }

        @Locked(name = "outer", key = "#i")
        CompletableFuture<String> nested(int i) {
            return CompletableFuture.completedFuture(inner.call(i).join());
        }

        @Locked(name = "job")
        CompletableFuture<String> blocking(CountDownLatch begun, CountDownLatch mayEnd) throws InterruptedException {
            begun.countDown();
            mayEnd.await();
            return where();
        }

        @Async
        @Locked(name = "job", maxWait = "1h")
        CompletableFuture<String> waiting() {
            return where();
        }

        @Locked(name = "job", maxWait = "100ms")
        CompletableFuture<String> impatient() {
            return where();
        }
    }

    @Test
    @DisplayName("runs on the application's executor, with the context of the caller")
    void executor() {
        USER.set("alice");
        assertThat(outer.plain().join()).isEqualTo("app alice [job]");
        assertThat(outer.task().join()).isEqualTo("app alice [task]");
    }

    @Test
    @DisplayName("runs on the thread that Spring provides, with @Async")
    void async() {
        USER.set("alice");
        assertThat(outer.async().join()).isEqualTo("app alice [job]");
        assertThat(outer.asyncTask().join()).isEqualTo("app alice [asyncTask]");
    }

    @Test
    @DisplayName("is replaced there by a fallback")
    void fallback() {
        USER.set("alice");
        try (Hold hold = world.other.lock("job").tryAcquire().orElseThrow()) {
            assertThat(outer.fallback().join()).isEqualTo("app alice []");
        }
    }

    @Test
    @DisplayName("runs on the executor of a template")
    void template() throws Exception {
        LockTemplate locks = new LockTemplate(context.getBean(Holdfast.class));
        USER.set("alice");
        assertThat(locks.callAsync("job", Outer::where).toCompletableFuture().join())
                .isEqualTo("holdfast null [job]");
        assertThat(locks.withExecutor(context.getBean(ThreadPoolTaskExecutor.class))
                        .callAsync("job", Outer::where)
                        .toCompletableFuture()
                        .join())
                .isEqualTo("app alice [job]");
    }

    @Test
    @DisplayName("runs on Reactor's elastic threads, if it is a Mono")
    void mono() {
        assertThat(outer.mono().block()).startsWith("boundedElastic");
    }

    @Test
    @DisplayName("is not stuck behind work that waits for it")
    void nested() {
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            calls.add(outer.nested(i));
        }
        for (int i = 0; i < 8; i++) {
            assertThat(calls.get(i).join()).isEqualTo("inner" + i);
        }
    }

    @Test
    @DisplayName("delays no time-out of another, and keeps its lock to its end though it is cancelled")
    void blocking() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CompletableFuture<String> work = outer.blocking(begun, mayEnd);
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        List<CompletableFuture<String>> others = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            others.add(outer.impatient());
        }
        for (CompletableFuture<String> each : others) {
            assertThatThrownBy(() -> each.get(10, TimeUnit.SECONDS)).hasCauseInstanceOf(LockWaitTimeoutException.class);
        }
        work.cancel(true);
        assertThat(world.isFree("job")).isFalse();
        mayEnd.countDown();
        await().until(() -> world.isFree("job"));
    }

    @Test
    @DisplayName("gives its lock back if the executor rejects it")
    void rejected() {
        context.getBean(ThreadPoolTaskExecutor.class).shutdown();
        assertThatThrownBy(() -> outer.plain().join()).hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(world.isFree("job")).isTrue();
    }

    @Test
    @DisplayName("is not run, and never has its lock, if its thread is interrupted while it waits")
    void interrupted() throws Exception {
        CompletableFuture<String> waiting;
        try (Hold hold = world.other.lock("job").tryAcquire().orElseThrow()) {
            waiting = outer.waiting();
            await().until(() -> world.other.inspect("job").orElseThrow().waiting() == 1);
            context.getBean(ThreadPoolTaskExecutor.class).shutdown();
            assertThatThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockInterruptedException.class);
        }
        await().atMost(Duration.ofSeconds(10)).until(() -> world.isFree("job"));
    }
}
