package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A scheduled task")
class ScheduledTaskStoreTest extends ScheduledTaskFixture {

    // ---- Unknown outcomes

    @Test
    @Tag("G6")
    @DisplayName("runs once if the answer to its claim was lost, and once if the claim was")
    void lostAnswer() throws Exception {
        link.loseReplyToNext(Command.Acquire.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        link.loseNext(Command.Acquire.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        link.failNext(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run if the store does not answer in time; a grant that was under way is withdrawn")
    void unanswered() throws Exception {
        link.loseReplyToNext(Command.Acquire.class);
        link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        AtomicBoolean hasRun = new AtomicBoolean();
        Doing<TaskRun<Boolean>> doing = worker.start(() -> atAlice.<Boolean, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> hasRun.getAndSet(true)));
        Eventually.holds(
                "it is granted at the store", () -> world.holderOf("report").isPresent());
        assertThatThrownBy(() -> comesTo(doing))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("was not run")
                .hasMessageContaining("report");
        link.mend();
        world.advance(Duration.ofSeconds(5));
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(hasRun).isFalse();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run by a grant that comes when its caller has given up, and leaves nothing")
    void lateGrant() throws Exception {
        FaultyLink.HeldUp claim = link.holdUpNext(Command.Acquire.class);
        AtomicBoolean hasRun = new AtomicBoolean();
        Doing<TaskRun<Boolean>> doing = worker.start(() -> atAlice.<Boolean, RuntimeException>callIfDue(
                TaskOptions.atMost(HOUR).withAtLeast(FIVE_MINUTES), hold -> hasRun.getAndSet(true)));
        claim.awaitCommand();
        link.fail(Command.Acquire.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThatThrownBy(() -> comesTo(doing)).isInstanceOf(StoreUnavailableException.class);
        claim.proceed();
        link.mend();
        world.advance(Duration.ofSeconds(5));
        assertThat(world.holderOf("report")).isEmpty();
        assertThat(hasRun).isFalse();
    }

    @Test
    @Tag("G6")
    @DisplayName("waits for a session when its client has lost it, and runs under the next")
    void sessionGone() throws Exception {
        link.cut();
        world.advance(TTL.multipliedBy(2));
        link.mend();
        Doing<TaskRun<String>> doing = worker.start(() -> run(atAlice, HOUR, Duration.ZERO));
        assertThat(comesTo(doing).hasRun()).isTrue();
        // The store ends it, and the client detects that by the reply.
        world.ask(new Command.CloseSession(
                ((Command.Acquire) link.sent(Command.Acquire.class).get(0))
                        .claim()
                        .session()));
        link.answerNext(Command.Acquire.class, new Reply.SessionEnded());
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, Duration.ZERO)))
                        .hasRun())
                .isTrue();
    }

    @Test
    @Tag("G6")
    @DisplayName("is not run if the store refuses this client")
    void denied() {
        link.failNext(Command.Acquire.class, Reason.DENIED, Effect.NONE);
        assertThatThrownBy(() -> run(atAlice, HOUR, Duration.ZERO)).isInstanceOf(StoreRefusedException.class);
        world.advance(Duration.ofSeconds(5));
        assertThat(link.sent(Command.Withdraw.class))
                .as("there is nothing to end")
                .isEmpty();
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @Tag("G7")
    @DisplayName("whose end is not confirmed has its result; the end is repeated, and lasts no longer for that")
    void unconfirmedEnd() throws Exception {
        link.fail(Command.Extend.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, FIVE_MINUTES).value()).isEqualTo("done");
        world.advance(Duration.ofMinutes(2));
        link.mend();
        world.advance(Duration.ofMinutes(3).plusMillis(2));
        assertThat(isDue(atBob)).isTrue();

        link.loseReplyToNext(Command.Extend.class);
        assertThat(comesTo(worker.start(() -> run(atAlice, HOUR, FIVE_MINUTES))).value())
                .isEqualTo("done");
        world.advance(FIVE_MINUTES);
        assertThat(isDue(atBob)).isTrue();

        link.fail(Command.Extend.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, FIVE_MINUTES).hasRun()).isTrue();
        world.advance(FIVE_MINUTES.plusSeconds(2));
        assertThat(link.sent(Command.Release.class))
                .as("its least time is over")
                .isNotEmpty();
        assertThat(isDue(atBob)).isTrue();

        link.mend();
        link.failNext(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, Duration.ZERO).hasRun()).isTrue();
        world.advance(Duration.ofSeconds(1));
        assertThat(isDue(atBob)).isTrue();
    }
}
