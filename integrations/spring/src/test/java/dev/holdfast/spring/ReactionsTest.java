package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Permits;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

@DisplayName("A locked method whose lock is taken or lost")
class ReactionsTest {

    private final World world = new World();
    private final AnnotationConfigApplicationContext context = world.start(Reactions.class, Jobs.class);
    private final Jobs jobs = context.getBean(Jobs.class);
    private final Reactions reactions = context.getBean(Reactions.class);

    @AfterEach
    void close() throws Exception {
        Thread.interrupted();
        world.close();
    }

    @Configuration(proxyBeanMethods = false)
    static class Reactions {

        final Queue<LockLostEvent> losses = new ConcurrentLinkedQueue<>();
        final Queue<LockFailureHandler.LockFailure> failures = new ConcurrentLinkedQueue<>();

        @EventListener
        void onLoss(LockLostEvent event) {
            losses.add(event);
        }

        @Bean
        LockFailureHandler tell() {
            return failure -> {
                failures.add(failure);
                return "told";
            };
        }
    }

    static class Jobs {

        final List<String> done = new ArrayList<>();

        List<String> done() {
            return done;
        }

        @Locked(name = "job", maxWait = "0s")
        String strict() {
            return "done";
        }

        @Locked(name = "job", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        void skipped() {
            done.add("skipped");
        }

        @Locked(name = "job", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        Optional<String> maybe() {
            return Optional.of("done");
        }

        @Locked(name = "job", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        String orNull() {
            return "done";
        }

        @Locked(name = "job", maxWait = "0s", fallback = "other")
        String otherwise(String id) {
            return "done " + id;
        }

        private String other(String id) {
            return "other " + id;
        }

        @Locked(name = "job", maxWait = "0s", fallback = "why")
        String because(String id) {
            return "done " + id;
        }

        private String why(String id, LockWaitTimeoutException failure) throws HoldfastException {
            throw failure;
        }

        @Locked(name = "job", maxWait = "0s", failureHandler = "tell")
        String handled(String id) {
            return "done " + id;
        }

        @Locked(name = "outer", maxWait = "0s", onTimeout = TimeoutReaction.SKIP)
        String nested(Holdfast holdfast) throws InterruptedException {
            try (Hold hold = holdfast.lock("job").acquire(java.time.Duration.ZERO)) {
                return hold.name();
            }
        }

        @Locked(name = "job", maxHold = "200ms")
        String interrupted() throws InterruptedException {
            Thread.sleep(60_000);
            return "not interrupted";
        }

        @Locked(key = "{'job', 'other'}", maxHold = "200ms")
        String bothInterrupted() throws InterruptedException {
            Thread.sleep(60_000);
            return "not interrupted";
        }

        @Locked(name = "job", maxHold = "200ms", onLoss = LossReaction.THROW)
        String thrown() throws InterruptedException {
            World.awaitLoss();
            done.add("thrown");
            return "done";
        }

        @Locked(name = "job", maxHold = "200ms", onLoss = LossReaction.EVENT)
        String told() throws InterruptedException {
            World.awaitLoss();
            return "done";
        }

        @Locked("job")
        String undeclared() {
            return "done";
        }

        @Locked("job")
        String declared() throws InterruptedException {
            return "done";
        }

        @Locked(name = "catalogue", mode = LockMode.READ)
        String read() {
            return "read";
        }

        @Locked(name = "catalogue", mode = LockMode.WRITE, maxWait = "0s")
        String write() {
            return "written";
        }

        @Locked(name = "gpu", mode = LockMode.PERMITS, permits = 2, capacity = 3, maxWait = "0s")
        String permits() {
            return "trained";
        }

        @Locked(key = "{'gpu', 'tpu'}", mode = LockMode.PERMITS, capacityString = "3", maxWait = "0s", barging = false)
        String permitsOfBoth() {
            return "trained";
        }
    }

    private Hold taken(String name) {
        return world.other.lock(name).tryAcquire().orElseThrow();
    }

    @Test
    @DisplayName("throws by default")
    void throwsByDefault() {
        try (Hold hold = taken("job")) {
            assertThatThrownBy(jobs::strict).isInstanceOf(LockWaitTimeoutException.class);
        }
        assertThat(jobs.strict()).isEqualTo("done");
    }

    @Test
    @DisplayName("is skipped if it says so, and answers what stands for nothing")
    void skips() {
        try (Hold hold = taken("job")) {
            jobs.skipped();
            assertThat(jobs.maybe()).isEmpty();
            assertThat(jobs.orNull()).isNull();
        }
        assertThat(jobs.done()).isEmpty();
        assertThat(jobs.maybe()).hasValue("done");
    }

    @Test
    @DisplayName("hands over to its fallback, with the failure if that wants it")
    void fallsBack() {
        try (Hold hold = taken("job")) {
            assertThat(jobs.otherwise("7")).isEqualTo("other 7");
            assertThatThrownBy(() -> jobs.because("7"))
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("'job'");
        }
        assertThat(jobs.otherwise("7")).isEqualTo("done 7");
    }

    @Test
    @DisplayName("hands over to a bean, with all that is known")
    void isHandled() {
        try (Hold hold = taken("job")) {
            assertThat(jobs.handled("7")).isEqualTo("told");
        }
        assertThat(reactions.failures).singleElement().satisfies(failure -> {
            assertThat(failure.names()).containsExactly("job");
            assertThat(failure.arguments()).containsExactly("7");
            assertThat(failure.method().getName()).isEqualTo("handled");
            assertThat(failure.cause()).isInstanceOf(LockWaitTimeoutException.class);
        });
    }

    @Test
    @DisplayName("does not take the failure of an inner lock for its own")
    void innerFailure() {
        try (Hold hold = taken("job")) {
            assertThatThrownBy(() -> jobs.nested(context.getBean(Holdfast.class)))
                    .isInstanceOf(LockWaitTimeoutException.class);
        }
    }

    @Test
    @DisplayName("never runs when the client is closed, whatever it does when others have the lock")
    void closedClient() {
        context.getBean(Holdfast.class).close();
        assertThatThrownBy(jobs::skipped).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> jobs.otherwise("7")).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> jobs.handled("7")).isInstanceOf(ClientClosedException.class);
        assertThat(jobs.done()).isEmpty();
    }

    @Test
    @DisplayName("is interrupted at the loss, and fails with it; the interrupt is over with the call")
    void interruptedAtLoss() {
        assertThatThrownBy(jobs::interrupted)
                .isInstanceOf(LockLostException.class)
                .satisfies(lost ->
                        assertThat(lost.getSuppressed()).hasAtLeastOneElementOfType(InterruptedException.class));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        await().untilAsserted(() -> assertThat(reactions.losses).singleElement().satisfies(event -> {
            assertThat(event.names()).containsExactly("job");
            assertThat(event.work()).endsWith("Jobs#interrupted()");
        }));
        assertThat(world.isFree("job")).isTrue();
    }

    @Test
    @DisplayName("is interrupted at the loss of one of several locks, and the others are free")
    void interruptedAtLossOfOne() {
        assertThatThrownBy(jobs::bothInterrupted).isInstanceOf(LockLostException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(world.isFree("job")).isTrue();
        assertThat(world.isFree("other")).isTrue();
    }

    @Test
    @DisplayName("runs to its end and fails then, or not, if it says so")
    void otherLosses() throws InterruptedException {
        assertThatThrownBy(jobs::thrown).isInstanceOf(LockLostException.class);
        assertThat(jobs.done()).containsExactly("thrown");
        assertThat(jobs.told()).isEqualTo("done");
        await().untilAsserted(() -> assertThat(reactions.losses).hasSize(2));
    }

    @Test
    @DisplayName("is not run if its thread is interrupted, in the way that its signature allows")
    void interruptedWhileWaiting() {
        try (Hold hold = taken("job")) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(jobs::declared).isInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).isFalse();

            Thread.currentThread().interrupt();
            assertThatThrownBy(jobs::undeclared).isInstanceOf(LockInterruptedException.class);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    @DisplayName("shares the lock with readers, not with a writer")
    void modes() throws InterruptedException {
        try (Hold hold = world.other.readWriteLock("catalogue").readLock().acquire()) {
            assertThat(jobs.read()).isEqualTo("read");
            assertThatThrownBy(jobs::write).isInstanceOf(LockWaitTimeoutException.class);
        }
        assertThat(jobs.write()).isEqualTo("written");
    }

    @Test
    @DisplayName("takes some of a number of permits")
    void permits() throws InterruptedException {
        try (Permits one = world.other.semaphore("gpu", 3).acquire()) {
            assertThat(jobs.permits()).isEqualTo("trained");
            assertThat(jobs.permitsOfBoth()).isEqualTo("trained");
            try (Permits another = world.other.semaphore("gpu", 3).acquire()) {
                assertThatThrownBy(jobs::permits).isInstanceOf(LockWaitTimeoutException.class);
            }
        }
    }
}
