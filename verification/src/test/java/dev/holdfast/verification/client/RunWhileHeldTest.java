package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A task that runs while the lock is held")
class RunWhileHeldTest {

    @AutoClose
    private final World world = World.live();

    private final FaultyLink link = world.link();
    private final Holdfast client = world.client("alice", link);
    private final DistributedLock lock = client.lock("ledger");
    private final Actor worker = world.actor("worker");
    private final CountDownLatch begun = new CountDownLatch(1);

    @Test
    @DisplayName("has the hold, and gives its result; the lock is free afterwards")
    void result() throws InterruptedException {
        String result = lock.<String, RuntimeException>callWhileHeld(hold -> "held: " + hold.isHeld());

        assertThat(result).isEqualTo("held: true");
        assertThat(world.holderOf("ledger")).isEmpty();
    }

    @Test
    @DisplayName("may return null")
    void nothing() throws InterruptedException {
        assertThat(lock.<Object, RuntimeException>callWhileHeld(hold -> null)).isNull();
    }

    @Test
    @DisplayName("that throws ends with just that exception, checked or not, and the lock is free")
    void exception() {
        IOException thrown = new IOException("the disk is full");
        assertThatThrownBy(() -> lock.<Object, IOException>callWhileHeld(hold -> {
                    throw thrown;
                }))
                .isSameAs(thrown)
                .hasNoSuppressedExceptions();
        StackOverflowError error = new StackOverflowError();
        assertThatThrownBy(() -> lock.<Object, RuntimeException>callWhileHeld(hold -> {
                    throw error;
                }))
                .isSameAs(error);
        assertThat(world.holderOf("ledger")).isEmpty();
    }

    @Test
    @DisplayName("that throws ends with that exception also if the release fails, whose exception is suppressed in it")
    void exceptionAndUnconfirmedRelease() {
        IOException thrown = new IOException("the disk is full");
        link.failNext(Command.Release.class, Reason.DENIED, Effect.NONE);

        assertThatThrownBy(() -> lock.<Object, IOException>callWhileHeld(hold -> {
                    throw thrown;
                }))
                .isSameAs(thrown);

        assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    @DisplayName(
            "is interrupted when the hold is lost, and the caller learns of the loss; what the task threw is suppressed in it")
    void lostAndInterrupted() throws Exception {
        Doing<Object> working = worker.start(() -> lock.<Object, InterruptedException>callWhileHeld(hold -> {
            begun.countDown();
            new CountDownLatch(1).await();
            return null;
        }));
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        world.releaseByForce("ledger");

        assertThatThrownBy(working::result).isInstanceOfSatisfying(LockLostException.class, e -> {
            assertThat(e.loss().cause()).isEqualTo(Loss.Cause.REMOVED);
            assertThat(e.getSuppressed()).singleElement().isInstanceOf(InterruptedException.class);
        });
        assertThat(worker.<Boolean>call(Thread::interrupted)).isFalse();
        assertThat(worker.<Integer>call(lock::holdCount)).isZero();
    }

    @Test
    @DisplayName(
            "that returns all the same, though the hold is lost, has no result, and the interrupt does not outlive the call")
    void lostAndReturned() throws Exception {
        AtomicBoolean wasInterrupted = new AtomicBoolean();
        Doing<String> working = worker.start(() -> lock.<String, RuntimeException>callWhileHeld(hold -> {
            begun.countDown();
            Eventually.holds(
                    "the worker is interrupted", () -> Thread.currentThread().isInterrupted());
            wasInterrupted.set(true);
            return "a result that may be stale";
        }));
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

        world.releaseByForce("ledger");

        assertThatThrownBy(working::result).isInstanceOf(LockLostException.class);
        assertThat(wasInterrupted).isTrue();
        assertThat(worker.<Boolean>call(Thread::interrupted)).isFalse();
    }

    @Test
    @DisplayName("that throws with the interrupt pending, since the hold is lost, leaves no interrupt to its caller")
    void lostAndThrew() {
        IllegalStateException thrown = new IllegalStateException("no paper");

        assertThatThrownBy(() -> lock.<Object, RuntimeException>callWhileHeld(hold -> {
                    world.releaseByForce("ledger");
                    awaitInterrupt();
                    throw thrown;
                }))
                .isInstanceOf(LockLostException.class)
                .hasSuppressedException(thrown);

        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    @DisplayName("that throws InterruptedException while the hold of an outer task is lost has passed on that loss")
    void innerTaskInterrupted() throws Exception {
        assertThat(isInterruptedAfter(new InterruptedException("by a loss"))).isFalse();
    }

    @Test
    @DisplayName("that throws something else while the hold of an outer task is lost leaves the interrupt to that task")
    void innerTaskFails() throws Exception {
        assertThat(isInterruptedAfter(new IOException("the disk is full"))).isTrue();
    }

    /** Whether an outer task, which loses its hold during an inner one, is interrupted when that has thrown. */
    private boolean isInterruptedAfter(Exception thrown) throws Exception {
        DistributedLock inner = client.lock("journal");
        AtomicBoolean isInterrupted = new AtomicBoolean();
        Doing<Object> working = worker.start(() -> lock.<Object, RuntimeException>callWhileHeld(outer -> {
            assertThatThrownBy(() -> inner.<Object, Exception>callWhileHeld(hold -> {
                        world.releaseByForce("ledger");
                        awaitInterrupt();
                        // A method that throws InterruptedException has cleared the flag.
                        assertThat(!(thrown instanceof InterruptedException) || Thread.interrupted())
                                .isTrue();
                        throw thrown;
                    }))
                    .isSameAs(thrown);
            isInterrupted.set(Thread.interrupted());
            return null;
        }));
        assertThatThrownBy(working::result).isInstanceOf(LockLostException.class);
        return isInterrupted.get();
    }

    private static void awaitInterrupt() {
        Eventually.holds(
                "the thread is interrupted", () -> Thread.currentThread().isInterrupted());
    }

    @Test
    @DisplayName("that is over when the hold is lost is not interrupted, and neither is what the thread does next")
    void neverInterruptedAfterwards() throws Exception {
        Actor operator = world.actor("operator");
        for (int i = 0; i < 200; i++) {
            Doing<Boolean> forcing = operator.start(() -> {
                world.recordOf("ledger")
                        .ifPresent(info -> info.holders()
                                .get(0)
                                .tokens()
                                .ifPresent(tokens -> world.ask(new Command.ForceRelease(info.name(), tokens.last()))));
                return true;
            });
            try {
                lock.<Object, RuntimeException>callWhileHeld(hold -> null);
            } catch (LockLostException e) {
                // As well: it was lost while it was held.
            }
            assertThat(Thread.interrupted()).isFalse();
            forcing.result();
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Test
    @DisplayName("keeps an interrupt that was meant for it by others")
    void othersInterrupt() throws Exception {
        assertThat(worker.<Boolean>call(() -> {
                    lock.<Object, RuntimeException>callWhileHeld(hold -> {
                        Thread.currentThread().interrupt();
                        return null;
                    });
                    return Thread.interrupted();
                }))
                .isTrue();
        world.awaitIdle();
    }

    @Test
    @DisplayName("may close the hold itself")
    void closesItself() throws InterruptedException {
        assertThat(lock.<Boolean, RuntimeException>callWhileHeld(hold -> {
                    hold.close();
                    return hold.isHeld();
                }))
                .isFalse();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    @DisplayName("may run under a hold that the thread has already, which lasts")
    void nested() throws InterruptedException {
        try (Hold outer = lock.acquire()) {
            long token = lock.<Long, RuntimeException>callWhileHeld(Hold::fencingToken);
            assertThat(token).isEqualTo(outer.fencingToken());
            assertThat(outer.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("that lost the hold with an inner release of its own tells the loss once")
    void lostAndClosedByTheTask() throws Exception {
        Doing<Object> working = worker.start(() -> lock.<Object, RuntimeException>callWhileHeld(hold -> {
            begun.countDown();
            Eventually.holds("the hold is lost", () -> !hold.isHeld());
            hold.close();
            return null;
        }));
        assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        world.releaseByForce("ledger");

        assertThatThrownBy(working::result).isInstanceOf(LockLostException.class);
        assertThat(worker.<Boolean>call(Thread::interrupted)).isFalse();
    }
}
