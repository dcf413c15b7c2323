package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A wait that timed out")
@Tag("Z6")
class WaitTimeoutTest {

    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final Duration LONGEST_LOOK = Duration.ofMillis(250);
    private static final AcquireOptions WITHIN = AcquireOptions.defaults().withMaxWait(WAIT);

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("worker-7");
    private final Holdfast bob = world.client("bob", link);
    private final Actor thread = world.actor("bob");

    @AfterEach
    void close() {
        link.mend();
        world.close();
    }

    private LockWaitTimeoutException timeout(Doing<?> waiting) {
        LockWaitTimeoutException timeout = catchThrowableOfType(LockWaitTimeoutException.class, waiting::result);
        assertThat(timeout).isNotNull();
        return timeout;
    }

    @Test
    @DisplayName("names the holder, its token and what is left of its lease, in the message and by accessor")
    void namesTheHolder() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        Doing<Hold> waiting = thread.startWaiting(() -> bob.lock("invoice-run").acquire(WAIT));
        world.advance(WAIT);
        LockWaitTimeoutException timeout = timeout(waiting);
        assertThat(timeout)
                .hasMessageContaining("was not granted within 5 s: 'worker-7' holds it with token "
                        + hold.fencingToken() + " and about 25 s of lease left (store ");
        LockInfo.Holder holder = timeout.holder().orElseThrow();
        assertThat(holder.label()).isEqualTo("worker-7");
        assertThat(holder.token()).isEqualTo(hold.fencingToken());
        assertThat(timeout.waited()).isEqualTo(WAIT);
        assertThat(world.waitersOf("invoice-run")).isZero();
        hold.close();
    }

    @Test
    @DisplayName("of a stage names the holder too, and so do those of permits and of several locks")
    void everyKindOfCall() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        Hold permits = alice.semaphore("gpu", 2).acquire(2);
        List<CompletableFuture<?>> stages = new ArrayList<>();
        stages.add(bob.lock("invoice-run").acquireAsync(WITHIN).toCompletableFuture());
        stages.add(bob.semaphore("gpu", 2).acquireAsync(1, WITHIN).toCompletableFuture());
        stages.add(bob.lockAll("free", "invoice-run").acquireAsync(WITHIN).toCompletableFuture());
        Doing<Hold> ofPermits =
                thread.startWaiting(() -> bob.semaphore("gpu", 2).acquire(1, WITHIN));
        Doing<?> ofSeveral =
                world.actor("other").start(() -> bob.lockAll("a", "invoice-run").acquire(WITHIN));
        world.advance(WAIT);
        Eventually.holds("all have ended", () -> stages.stream().allMatch(CompletableFuture::isDone));
        for (CompletableFuture<?> stage : stages) {
            assertThatThrownBy(stage::join)
                    .isInstanceOf(CompletionException.class)
                    .cause()
                    .isInstanceOf(LockWaitTimeoutException.class)
                    .hasMessageContaining("'worker-7' holds it with token ");
        }
        assertThat(timeout(ofPermits)).hasMessageContaining("'worker-7' holds it");
        assertThat(timeout(ofSeveral)).hasMessageContainingAll("'invoice-run'", "5 s", "'worker-7' holds it");
        hold.close();
        permits.close();
    }

    @Test
    @DisplayName("is late by at most a quarter of a second when the store does not say who the holder is")
    void isNotLate() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        link.cutFor(Command.Inspect.class::isInstance);
        Doing<Hold> waiting = thread.startWaiting(() -> bob.lock("invoice-run").acquire(WAIT));
        CompletableFuture<Hold> stage =
                bob.lock("invoice-run").acquireAsync(WITHIN).toCompletableFuture();
        world.advance(WAIT);
        Eventually.holds("it asks", () -> !link.sent(Command.Inspect.class).isEmpty());
        assertThat(stage).isNotDone();
        world.advance(LONGEST_LOOK);
        Eventually.holds("the stage has ended", stage::isDone);
        LockWaitTimeoutException timeout = timeout(waiting);
        assertThat(timeout.holder()).isEmpty();
        assertThat(timeout).hasMessageContaining("others hold it or are ahead in the queue");
        assertThat(stage).isCompletedExceptionally();
        assertThat(link.sent(Command.Inspect.class)).as("one question for both").hasSize(1);
        hold.close();
    }

    @Test
    @DisplayName(
            "is not late at all when the store refuses to say, and a wait in vain without an exception asks nothing")
    void asksNothingInVain() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        Doing<?> attempt = thread.startWaiting(() -> bob.lock("invoice-run").tryAcquire(WAIT));
        world.advance(WAIT);
        assertThat(attempt.result()).isEqualTo(Optional.empty());
        assertThat(link.sent(Command.Inspect.class)).isEmpty();
        link.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
        Doing<Hold> waiting = thread.startWaiting(() -> bob.lock("invoice-run").acquire(WAIT));
        world.advance(WAIT);
        assertThat(timeout(waiting).holder()).isEmpty();
        hold.close();
    }

    @Test
    @DisplayName("of a try says what the store said when it refused")
    void ofTry() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        assertThatThrownBy(() -> bob.lock("invoice-run").acquire(Duration.ZERO))
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("worker-7");
        assertThat(link.sent(Command.Inspect.class)).isEmpty();
        hold.close();
    }

    @Test
    @DisplayName("says so if this client is in its own way, and how many others wait")
    void ownClient() throws Exception {
        Hold hold = bob.lock("invoice-run").acquire();
        CompletableFuture<Hold> queued =
                alice.lock("invoice-run").acquireAsync().toCompletableFuture();
        Eventually.holds("it waits", () -> world.waitersOf("invoice-run") == 1);
        Doing<Hold> waiting = thread.startWaiting(() -> bob.lock("invoice-run").acquire(WAIT));
        world.advance(WAIT);
        assertThat(timeout(waiting)).hasMessageContainingAll("this client ('bob') holds it", "; 1 waiting");
        hold.close();
        Eventually.holds("it is served", queued::isDone);
        queued.join().close();
    }

    @Test
    @DisplayName("keeps an interrupt that comes while it is looked who the holder is")
    void interrupted() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        link.cutFor(Command.Inspect.class::isInstance);
        Doing<Boolean> waiting = thread.startWaiting(() -> {
            assertThatThrownBy(() -> bob.lock("invoice-run").acquire(WAIT))
                    .isInstanceOf(LockWaitTimeoutException.class);
            return Thread.interrupted();
        });
        world.advance(WAIT);
        Eventually.holds("it asks", () -> !link.sent(Command.Inspect.class).isEmpty());
        thread.interrupt();
        world.advance(LONGEST_LOOK);
        assertThat(waiting.result()).isTrue();
        hold.close();
    }

    @Test
    @DisplayName("can be sent elsewhere, with its holder")
    void isSerializable() throws Exception {
        Hold hold = alice.lock("invoice-run").acquire();
        Doing<Hold> waiting = thread.startWaiting(() -> bob.lock("invoice-run").acquire(WAIT));
        world.advance(WAIT);
        LockWaitTimeoutException timeout = timeout(waiting);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(timeout);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            LockWaitTimeoutException copy = (LockWaitTimeoutException) in.readObject();
            assertThat(copy.holder()).isEqualTo(timeout.holder());
            assertThat(copy).hasMessage(timeout.getMessage());
        }
        hold.close();
    }
}
