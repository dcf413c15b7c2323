package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Command;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What depends on a stage never runs on the thread of a store")
class StageThreadTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);

    /** The thread of the dependents of a stage whose end comes when the store answers, which it does on this thread. */
    private static void endsElsewhere(FaultyLink.HeldUp command, CompletionStage<?> stage) throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> thread.complete(Thread.currentThread()));
        assertThat(thread).isNotDone();

        command.proceed();

        assertThat(thread.get(60, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
        stage.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("of a release")
    void release() throws Exception {
        Hold hold = holdfast.lock("ledger").acquire();
        FaultyLink.HeldUp release = link.holdUpNext(Command.Release.class);

        endsElsewhere(release, hold.releaseAsync());
    }

    @Test
    @DisplayName("of the release of several locks")
    void releaseOfSeveral() throws Exception {
        MultiHold all = holdfast.lockAll(holdfast.lock("ledger"), holdfast.lock("journal"))
                .acquire();
        FaultyLink.HeldUp release = link.holdUpNext(Command.Release.class);

        endsElsewhere(release, all.releaseAsync());
    }

    @Test
    @DisplayName("of the end of a task's turn")
    void turn() throws Exception {
        FaultyLink.HeldUp release = link.holdUpNext(Command.Release.class);
        CompletableFuture<CompletionStage<ReleaseOutcome>> ended = new CompletableFuture<>();
        var unused = holdfast.task("report").runIfDueAsync(TaskOptions.atMost(Duration.ofMinutes(5)), hold -> {
            ended.complete(hold.releaseAsync());
            return new CompletableFuture<>();
        });

        endsElsewhere(release, ended.get(60, TimeUnit.SECONDS));
    }

    @Test
    @DisplayName("of a client's end")
    void end() throws Exception {
        FaultyLink.HeldUp close = link.holdUpNext(Command.CloseSession.class);

        endsElsewhere(close, holdfast.closeAsync());
    }

    @Test
    @DisplayName("of a client's beginning")
    void beginning() throws Exception {
        FaultyLink another = world.link();
        FaultyLink.HeldUp open = another.holdUpNext(Command.OpenSession.class);
        CompletableFuture<Holdfast> building =
                world.builder("bob", another).buildAsync().toCompletableFuture();

        endsElsewhere(open, building);

        building.join().close();
    }

    @Test
    @DisplayName("and all who release a hold get the same stage")
    void sameStage() throws Exception {
        Hold hold = holdfast.lock("ledger").acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        FaultyLink.HeldUp release = link.holdUpNext(Command.Release.class);
        CompletionStage<ReleaseOutcome> first = hold.releaseAsync();
        release.awaitCommand();

        assertThat(hold.releaseAsync()).isSameAs(first);

        release.proceed();
        assertThat(first.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(hold.releaseAsync()).isSameAs(first);
    }

    @Test
    @DisplayName("and a client whose beginning is cancelled leaves nothing behind")
    void cancelledBeginning() {
        FaultyLink another = world.link();
        FaultyLink.HeldUp open = another.holdUpNext(Command.OpenSession.class);
        CompletableFuture<Holdfast> building =
                world.builder("bob", another).buildAsync().toCompletableFuture();
        open.awaitCommand();
        int timers = world.time().timers();

        building.cancel(false);
        open.proceed();
        world.advance(Duration.ofMinutes(2));

        assertThat(another.sent(Command.KeepAlive.class)).isEmpty();
        assertThat(world.time().timers()).isLessThan(timers);
    }
}
