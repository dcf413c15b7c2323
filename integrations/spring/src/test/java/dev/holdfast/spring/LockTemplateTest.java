package dev.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockOptions;
import dev.holdfast.LockWaitTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

@DisplayName("A lock template")
class LockTemplateTest {

    private final World world = new World();
    private final Holdfast client = Holdfast.connect(world.uri);
    private final LockTemplate template = new LockTemplate(client).withMaxWait(Duration.ZERO);
    private final Queue<Object> losses = new ConcurrentLinkedQueue<>();

    @AfterEach
    void close() throws Exception {
        client.close();
        world.close();
    }

    private Hold taken() {
        return world.other.lock("job").tryAcquire().orElseThrow();
    }

    @Test
    @DisplayName("runs work under one lock or several, and gives them back")
    void runs() throws Exception {
        assertThat(template.call("job", CurrentLocks::names)).containsExactly("job");
        assertThat(template.call(List.of("job", "account", "job"), CurrentLocks::names))
                .containsExactly("account", "job");
        template.run("job", () -> CurrentLocks.ensureHeld("job"));
        template.run(
                List.of("job", "other"),
                () -> assertThatIllegalStateException()
                        .isThrownBy(CurrentLocks::fencingToken)
                        .withMessageContaining("Several locks"));
        assertThat(world.isFree("job")).isTrue();
        assertThat(world.isFree("account")).isTrue();
    }

    @Test
    @DisplayName("is re-entrant, with the token of the outer lock")
    void reentrant() throws Exception {
        template.run("job", () -> {
            long token = CurrentLocks.fencingToken();
            template.run("job", () -> assertThat(CurrentLocks.fencingToken()).isEqualTo(token));
            assertThat(CurrentLocks.names()).containsExactly("job");
        });
    }

    @Test
    @DisplayName("throws what the work throws")
    void throwsChecked() {
        assertThatThrownBy(() -> template.<Object, IOException>call("job", () -> {
                    throw new IOException("disk");
                }))
                .isInstanceOf(IOException.class);
        assertThat(world.isFree("job")).isTrue();
    }

    @Test
    @DisplayName("fails, tries, or does something else when others have the lock")
    void othersHaveIt() throws Exception {
        try (Hold hold = taken()) {
            assertThatThrownBy(() -> template.call("job", () -> "done")).isInstanceOf(LockWaitTimeoutException.class);
            assertThat(template.tryCall("job", () -> "done")).isEmpty();
            assertThat(template.callOrElse("job", () -> "done", failure -> failure.resource()))
                    .isEqualTo("job");
            // That of an inner lock is no reason to do something else.
            assertThatThrownBy(() -> template.tryCall("outer", () -> template.call("job", () -> "done")))
                    .isInstanceOf(LockWaitTimeoutException.class);
        }
        assertThat(template.tryCall("job", () -> "done")).hasValue("done");
    }

    @Test
    @DisplayName("has the modes and orders of locks")
    void modes() throws Exception {
        LockTemplate readers = template.withMode(LockMode.READ);
        try (Hold hold = world.other.readWriteLock("catalogue").readLock().acquire()) {
            assertThat(readers.call("catalogue", () -> "read")).isEqualTo("read");
            assertThat(template.withMode(LockMode.WRITE).tryCall("catalogue", () -> "written"))
                    .isEmpty();
        }
        try (Hold hold = world.other.semaphore("gpu", 2).acquire()) {
            assertThat(template.withPermits(1, 2).call("gpu", () -> "one")).isEqualTo("one");
            assertThat(template.withPermits(2, 2).tryCall("gpu", () -> "two")).isEmpty();
        }
        assertThat(template.withOptions(LockOptions.barging()).call("any", () -> "barged"))
                .isEqualTo("barged");
        assertThatIllegalArgumentException().isThrownBy(() -> template.withMode(LockMode.PERMITS));
        assertThatIllegalArgumentException().isThrownBy(() -> template.withPermits(3, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> template.withPermits(0, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> template.withMaxWait(Duration.ofNanos(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> template.call(List.of(), () -> "nothing"));
        assertThatIllegalArgumentException().isThrownBy(() -> template.call(" ", () -> "blank"));
    }

    @Test
    @DisplayName("publishes losses, and interrupts or not")
    void losses() throws Exception {
        Queue<Object> events = new ConcurrentLinkedQueue<>();
        LockTemplate losing = template.withMaxHold(Duration.ofMillis(200)).withEvents(events::add);
        assertThatThrownBy(() -> losing.run("job", () -> Thread.sleep(60_000))).isInstanceOf(LockLostException.class);
        assertThat(losing.withOnLoss(LossReaction.EVENT).<String, InterruptedException>call("job", () -> {
                    World.awaitLoss();
                    return "done";
                }))
                .isEqualTo("done");
        await().untilAsserted(() -> assertThat(events)
                .hasSize(2)
                .allSatisfy(event -> assertThat(event)
                        .isInstanceOfSatisfying(
                                LockLostEvent.class,
                                lost -> assertThat(lost.loss().name()).isEqualTo("job"))));
    }

    @Test
    @DisplayName(
            "tells outer work of its loss though inner work ends whose lock is lost, too, also under a lock of the API")
    void nestedLosses() throws Exception {
        LockTemplate losing = template.withEvents(losses::add);
        for (boolean isOuterFirst : List.of(false, true)) {
            assertThat(isFlaggedAfterInner(isOuterFirst, losing::run, losing::run))
                    .isTrue();
            assertThat(isFlaggedAfterInner(isOuterFirst, losing::run, this::runByApi))
                    .isTrue();
            assertThat(isFlaggedAfterInner(isOuterFirst, this::runByApi, losing::run))
                    .isTrue();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    private interface Runner {
        void run(String name, LockTemplate.Action<InterruptedException> action) throws InterruptedException;
    }

    private void runByApi(String name, LockTemplate.Action<InterruptedException> action) throws InterruptedException {
        client.lock(name).runWhileHeld(hold -> {
            hold.onLost(losses::add);
            action.run();
        });
    }

    /** Loses both locks, then swallows the interrupt; whether the outer work finds the flag after the inner one. */
    private boolean isFlaggedAfterInner(boolean isOuterFirst, Runner outer, Runner inner) {
        AtomicBoolean isFlagged = new AtomicBoolean();
        assertThatThrownBy(() -> outer.run("outer", () -> {
                    assertThatThrownBy(() -> inner.run("inner", () -> {
                                lose(isOuterFirst ? "outer" : "inner");
                                lose(isOuterFirst ? "inner" : "outer");
                                assertThat(Thread.interrupted()).isTrue();
                            }))
                            .isInstanceOf(LockLostException.class);
                    isFlagged.set(Thread.currentThread().isInterrupted());
                }))
                .isInstanceOf(LockLostException.class);
        return isFlagged.get();
    }

    /** Returns when the calling thread was interrupted for that. */
    private void lose(String name) {
        int before = losses.size();
        long token = world.other.inspect(name).orElseThrow().holders().get(0).token();
        assertThat(world.other.forceRelease(name, token)).isTrue();
        await().pollInSameThread().until(() -> losses.size() > before);
    }

    @Test
    @DisplayName("runs asynchronous and reactive work under locks until it has ended")
    void asynchronous() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> result =
                template.callAsync(List.of("job", "other"), () -> work).toCompletableFuture();
        await().until(() -> !world.isFree("other") && !world.isFree("job"));
        work.complete("done");
        assertThat(result.join()).isEqualTo("done");
        assertThat(world.isFree("job")).isTrue();

        ReactiveLockTemplate reactive = new ReactiveLockTemplate(template);
        Mono<String> mono =
                reactive.call("job", () -> Mono.fromSupplier(() -> world.isFree("job") ? "free" : "locked"));
        assertThat(world.isFree("job")).isTrue();
        assertThat(mono.block()).isEqualTo("locked");
        try (Hold hold = taken()) {
            assertThatThrownBy(mono::block).isInstanceOf(LockWaitTimeoutException.class);
            assertThatThrownBy(() -> template.callAsync("job", () -> work)
                            .toCompletableFuture()
                            .join())
                    .hasCauseInstanceOf(LockWaitTimeoutException.class);
        }
    }
}
