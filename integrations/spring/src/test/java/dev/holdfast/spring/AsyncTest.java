package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

@DisplayName("A locked method that returns")
class AsyncTest {

    private final World world = new World();
    private final Jobs jobs = world.start(Jobs.class).getBean(Jobs.class);

    @AfterEach
    void close() throws Exception {
        world.close();
    }

    static class Jobs {

        private final AtomicInteger calls = new AtomicInteger();

        int calls() {
            return calls.get();
        }

        @Locked(name = "job", maxWait = "0s")
        CompletionStage<String> stage(CompletionStage<String> work) {
            calls.incrementAndGet();
            CurrentLocks.ensureHeld("job");
            return work;
        }

        @Locked(name = "job")
        CompletableFuture<String> waiting(CompletableFuture<String> work) {
            calls.incrementAndGet();
            return work;
        }

        @Locked(key = "{'job', 'other'}", maxHold = "200ms")
        CompletableFuture<String> losing(CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = "job", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        CompletableFuture<String> skipped(CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = "job", maxWait = "0s", fallback = "other")
        CompletableFuture<String> otherwise(CompletableFuture<String> work) {
            return work;
        }

        private CompletableFuture<String> other(CompletableFuture<String> work) {
            return CompletableFuture.completedFuture("other");
        }

        @Locked(name = "job")
        CompletableFuture<String> failing() {
            throw new IllegalArgumentException("at once");
        }

        @Locked(name = "job", maxWait = "0s")
        Mono<String> mono(Mono<String> work) {
            calls.incrementAndGet();
            CurrentLocks.ensureHeld("job");
            return work;
        }

        @Locked(name = "job", maxHold = "200ms")
        Mono<String> losingMono(Mono<String> work) {
            return work;
        }

        @Locked(name = "job", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        Mono<String> skippedMono() {
            return Mono.just("done");
        }

        @Locked(name = "job", maxWait = "0s", fallback = "otherMono")
        Mono<String> otherwiseMono() {
            return Mono.just("done");
        }

        private Mono<String> otherMono(LockWaitTimeoutException failure) {
            return Mono.just("other");
        }

        @Locked("job")
        Object hidden(Object work) {
            return work;
        }
    }

    private Hold taken() {
        return world.other.lock("job").tryAcquire().orElseThrow();
    }

    private void awaitFree() {
        await().until(() -> world.isFree("job"));
    }

    @Test
    @DisplayName("a stage has its lock until that has completed")
    void stage() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = jobs.stage(work).toCompletableFuture();
        await().until(() -> jobs.calls() == 1);
        assertThat(world.isFree("job")).isFalse();
        assertThat(CurrentLocks.names()).isEmpty();
        work.complete("done");
        assertThat(result.join()).isEqualTo("done");
        assertThat(world.isFree("job")).isTrue();
    }

    @Test
    @DisplayName("a stage that fails gives the lock back, as one that never came to be")
    void failingStage() {
        CompletableFuture<String> work = CompletableFuture.failedFuture(new IllegalArgumentException("later"));
        assertThatThrownBy(() -> jobs.stage(work).toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> jobs.failing().join()).hasCauseInstanceOf(IllegalArgumentException.class);
        assertThat(world.isFree("job")).isTrue();
    }

    @Test
    @DisplayName("a stage is cancelled while it waits, and never holds the lock then")
    void cancelledWhileWaiting() {
        CompletableFuture<String> result;
        try (Hold hold = taken()) {
            result = jobs.waiting(new CompletableFuture<>());
            result.cancel(true);
        }
        awaitFree();
        assertThat(jobs.calls()).isZero();
    }

    @Test
    @DisplayName("a stage is cancelled while it runs, and gives the lock back")
    void cancelledWhileRunning() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result = jobs.waiting(work);
        await().until(() -> jobs.calls() == 1);
        result.cancel(true);
        assertThat(work).isCancelled();
        awaitFree();
    }

    @Test
    @DisplayName("a stage is cancelled and fails when the lock is lost")
    void losingStage() {
        CompletableFuture<String> work = new CompletableFuture<>();
        assertThatThrownBy(() -> jobs.losing(work).join()).hasCauseInstanceOf(LockLostException.class);
        assertThat(work).isCancelled();
        awaitFree();
        assertThat(world.isFree("other")).isTrue();
    }

    @Test
    @DisplayName("a stage fails, is skipped, or hands over when others have the lock")
    void stageTaken() {
        CompletableFuture<String> work = CompletableFuture.completedFuture("done");
        try (Hold hold = taken()) {
            assertThatThrownBy(() -> jobs.stage(work).toCompletableFuture().join())
                    .hasCauseInstanceOf(LockWaitTimeoutException.class);
            assertThat(jobs.skipped(work).join()).isNull();
            assertThat(jobs.otherwise(work).join()).isEqualTo("other");
        }
        assertThat(jobs.skipped(work).join()).isEqualTo("done");
    }

    @Test
    @DisplayName("a Mono is locked by each subscription, until that has ended")
    void mono() {
        Sinks.One<String> work = Sinks.one();
        Mono<String> mono = jobs.mono(work.asMono());
        assertThat(jobs.calls()).isZero();
        assertThat(world.isFree("job")).isTrue();

        CompletableFuture<String> result = mono.toFuture();
        await().until(() -> jobs.calls() == 1);
        assertThat(world.isFree("job")).isFalse();
        work.tryEmitValue("done");
        assertThat(result.join()).isEqualTo("done");
        assertThat(world.isFree("job")).isTrue();

        assertThat(mono.block()).isEqualTo("done");
        assertThat(jobs.calls()).isEqualTo(2);
    }

    @Test
    @DisplayName("a Mono sees the context of its subscriber")
    void monoContext() {
        Mono<String> work = Mono.deferContextual(context -> Mono.just(context.get("tenant")));
        assertThat(jobs.mono(work)
                        .contextWrite(context -> context.put("tenant", "acme"))
                        .block())
                .isEqualTo("acme");
    }

    @Test
    @DisplayName("a Mono that fails, is empty or is cancelled gives the lock back")
    void monoEnds() {
        assertThatThrownBy(() -> jobs.mono(Mono.error(new IllegalArgumentException("later")))
                        .block())
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(world.isFree("job")).isTrue();
        assertThat(jobs.mono(Mono.empty()).block()).isNull();
        assertThat(world.isFree("job")).isTrue();
        var subscription = jobs.mono(Mono.never()).subscribe();
        await().until(() -> jobs.calls() == 3);
        subscription.dispose();
        awaitFree();
    }

    @Test
    @DisplayName("a Mono is cancelled and fails when the lock is lost")
    void losingMono() {
        var cancelled = new AtomicInteger();
        Mono<String> work = Mono.<String>never().doOnCancel(cancelled::incrementAndGet);
        assertThatThrownBy(() -> jobs.losingMono(work).block()).isInstanceOf(LockLostException.class);
        assertThat(cancelled).hasValue(1);
        awaitFree();
    }

    @Test
    @DisplayName("a Mono fails, is empty, or hands over when others have the lock")
    void monoTaken() {
        try (Hold hold = taken()) {
            assertThatThrownBy(() -> jobs.mono(Mono.just("done")).block()).isInstanceOf(LockWaitTimeoutException.class);
            assertThat(jobs.skippedMono().blockOptional()).isEmpty();
            assertThat(jobs.otherwiseMono().block()).isEqualTo("other");
        }
        assertThat(jobs.calls()).isZero();
        assertThat(jobs.skippedMono().block()).isEqualTo("done");
    }

    @Test
    @DisplayName("what goes on, under another type, is told that it is not locked")
    void hidden() {
        assertThat(jobs.hidden("done")).isEqualTo("done");
        for (Object work : List.of(new CompletableFuture<>(), Mono.just("done"), List.of(1).stream())) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> jobs.hidden(work))
                    .withMessageContaining("whose work continues although the lock is released");
        }
        assertThat(world.isFree("job")).isTrue();
    }
}
