package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A store that answers at once, and never what is asked, is asked again after pauses:")
class BackoffTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();

    @Test
    @DisplayName("for a session whose ttl is over when the store has opened it")
    void lateSession() {
        FaultyLink.HeldUp late = link.holdUpNext(Command.OpenSession.class);
        CompletableFuture<Holdfast> building = world.builder("alice", link)
                .sessionTtl(Duration.ofSeconds(2))
                .buildAsync()
                .toCompletableFuture();
        world.advance(Duration.ofSeconds(3));

        late.proceed();

        assertThat(link.sent(Command.OpenSession.class)).hasSize(1);
        assertThat(link.sent(Command.CloseSession.class)).hasSize(1);
        world.advanceUntil("there is a session", building::isDone);
        building.join().close();
    }

    @Test
    @DisplayName("for a session that it answers with something else")
    void anotherAnswerThanSession() {
        Holdfast alice = world.client("alice", link);
        alice.lock("ledger").acquireAsync().toCompletableFuture().join().close();
        SessionId session = link.sent(Command.Acquire.class).get(0).claim().session();
        link.forget();
        link.answerNext(Command.OpenSession.class, new Reply.Done());

        world.ask(new Command.CloseSession(session));
        world.time().settle();

        assertThat(link.sent(Command.OpenSession.class)).hasSize(1);
        CompletableFuture<Hold> next = alice.lock("ledger").acquireAsync().toCompletableFuture();
        world.advance(Duration.ofSeconds(1));
        assertThat(next).isCompleted();
        next.join().close();
        assertThat(link.sent(Command.OpenSession.class)).hasSize(2);
    }

    /** The request after the store has recovered; until then it is repeated for nine seconds. */
    private <T> T resultOf(CompletionStage<T> asking, Class<? extends Command> sent, int atLeast, int atMost) {
        assertThat(link.sent(sent)).hasSizeLessThanOrEqualTo(2);
        world.advance(Duration.ofSeconds(9));
        assertThat(link.sent(sent)).hasSizeBetween(atLeast, atMost);
        link.mend();
        CompletableFuture<T> asked = asking.toCompletableFuture();
        world.advanceUntil("it is answered", asked::isDone);
        return asked.join();
    }

    @Test
    @DisplayName("for a lock whose claims have unknown outcomes")
    void unknownAcquire() {
        Holdfast alice = world.client("alice", link);
        link.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.UNKNOWN);

        resultOf(alice.lock("ledger").acquireAsync(), Command.Acquire.class, 5, 40)
                .close();
    }

    @Test
    @DisplayName("for a lock whose claims are always of an older epoch")
    void staleAcquire() {
        Holdfast alice = world.client("alice", link);
        link.answerAll(Command.Acquire.class, new Reply.Stale());

        resultOf(alice.lock("ledger").acquireAsync(), Command.Acquire.class, 5, 40)
                .close();
    }

    @Test
    @DisplayName("for the count of a latch")
    void unknownCount() {
        Holdfast alice = world.client("alice", link);
        link.fail(Command.SetCount.class, Reason.UNAVAILABLE, Effect.UNKNOWN);

        assertThat(resultOf(alice.latch("imported").trySetCountAsync(1), Command.SetCount.class, 5, 40))
                .isTrue();
        alice.latch("imported").countDown();
    }

    @Test
    @DisplayName("for the count of a latch that is always set under an older epoch")
    void staleCount() {
        Holdfast alice = world.client("alice", link);
        link.answerAll(Command.SetCount.class, new Reply.Stale());

        assertThat(resultOf(alice.latch("imported").trySetCountAsync(1), Command.SetCount.class, 5, 40))
                .isTrue();
        alice.latch("imported").countDown();
    }

    @Test
    @DisplayName("for the turn of a task")
    void unknownTurn() {
        Holdfast alice = world.client("alice", link);
        link.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.UNKNOWN);

        assertThat(resultOf(
                                alice.task("nightly")
                                        .runIfDueAsync(
                                                TaskOptions.atMost(Duration.ofMinutes(1)),
                                                hold -> CompletableFuture.completedFuture("done")),
                                Command.Acquire.class,
                                5,
                                40)
                        .hasRun())
                .isTrue();
    }

    @Test
    @DisplayName("for a session that it opens and then says to have ended")
    void sessionsThatEnd() {
        Holdfast alice = world.client("alice", link);
        link.answerAll(Command.Acquire.class, new Reply.SessionEnded());
        link.forget();

        resultOf(alice.lock("ledger").acquireAsync(), Command.OpenSession.class, 3, 60)
                .close();
        // The store has not heard that they ended.
        world.advance(Duration.ofMinutes(2));
    }

    @Test
    @DisplayName("and a claim whose next step is lost all the same is found by the audit")
    void lostStep() {
        Forgetful environment = new Forgetful(world.time());
        Holdfast alice = world.client(world.builder("alice", link).environment(environment));
        link.failNext(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
        environment.forgets = true;
        CompletableFuture<Hold> asked = alice.lock("ledger").acquireAsync().toCompletableFuture();
        environment.forgets = false;

        world.advanceUntil("it is granted", asked::isDone);
        asked.join().close();
    }

    @Test
    @DisplayName("and so is one that nobody wants any more, and that the store has")
    void lostEnd() {
        Forgetful environment = new Forgetful(world.time());
        Holdfast alice = world.client(world.builder("alice", link).environment(environment));
        FaultyLink.HeldUp acquire = link.holdUpNext(Command.Acquire.class);
        CompletableFuture<Hold> asked = alice.lock("ledger").acquireAsync().toCompletableFuture();
        acquire.deliver();
        assertThat(asked.cancel(false)).isTrue();
        environment.forgets = true;
        acquire.fail(Reason.UNAVAILABLE, Effect.NONE);
        environment.forgets = false;
        assertThat(world.holderOf("ledger")).contains("alice");

        world.advanceUntil("it is withdrawn", () -> world.holderOf("ledger").isEmpty());
    }

    /** Loses timers while it is switched on. */
    private static final class Forgetful extends ForwardingEnvironment {
        private volatile boolean forgets;

        Forgetful(Environment real) {
            super(real);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return forgets ? () -> {} : real.schedule(delayNanos, task);
        }
    }
}
