package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.LockLostException;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import dev.holdfast.spi.Command.ListRuns;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The history of a scheduled task")
@Tag("G10")
class TaskHistoryTest extends ScheduledTaskFixture {

    private static final ResourceName NAME = new ResourceName("report");

    /** The runs, newest first, once there are so many. */
    private List<RecordedRun> runs(int count) {
        Eventually.holds(count + " runs", () -> alice.runs("report").size() == count);
        return alice.runs("report");
    }

    private void fails(Duration time) {
        assertThatThrownBy(() -> atBob(time)).isInstanceOf(IOException.class);
    }

    private void atBob(Duration time) throws IOException {
        atBob.<Object, IOException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
            world.advance(time);
            throw new IOException("the disk of ann@example.com is full");
        });
    }

    @Test
    @DisplayName("has the token, times, outcome and client of each of the last ten, newest first, for any client")
    void tellsHowRunsEnded() {
        long first = atAlice.<Long, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
                    world.advance(FIVE_MINUTES);
                    return hold.fencingToken();
                })
                .value();
        fails(Duration.ofSeconds(2));
        atAlice.tryBegin(TaskOptions.atMost(HOUR)).orElseThrow().close();
        List<RecordedRun> runs = runs(3);
        assertThat(runs)
                .extracting(RecordedRun::outcome)
                .containsExactly(Outcome.CLOSED, Outcome.FAILED, Outcome.SUCCEEDED);
        assertThat(runs).extracting(RecordedRun::token).isSortedAccordingTo((a, b) -> Long.compare(b, a));
        RecordedRun succeeded = runs.get(2);
        assertThat(succeeded.token()).isEqualTo(first);
        assertThat(succeeded.took()).contains(FIVE_MINUTES);
        assertThat(succeeded.label()).contains("alice");
        assertThat(succeeded.failure()).isEmpty();
        RecordedRun failed = runs.get(1);
        assertThat(failed.label()).contains("bob");
        assertThat(failed.took()).contains(Duration.ofSeconds(2));
        assertThat(failed.started()).contains(succeeded.ended().orElseThrow());
        assertThat(failed.failure()).as("without its message").isEqualTo("java.io.IOException");
        for (int i = 0; i < 12; i++) {
            run(atAlice, HOUR, Duration.ZERO);
        }
        Eventually.holds(
                "the last ten",
                () -> alice.runs("report").stream().allMatch(run -> run.outcome() == Outcome.SUCCEEDED));
        assertThat(runs(10)).extracting(RecordedRun::token).doesNotContain(first);
        assertThat(alice.runs("report-2")).isEmpty();
    }

    @Test
    @DisplayName("says of asynchronous runs how their stages ended")
    void stages() {
        atAlice.runIfDueAsync(TaskOptions.atMost(HOUR), hold -> CompletableFuture.completedFuture("done"));
        assertThat(runs(1).get(0).outcome()).isEqualTo(Outcome.SUCCEEDED);
        CompletableFuture<Object> work = new CompletableFuture<>();
        atAlice.runIfDueAsync(TaskOptions.atMost(HOUR), hold -> work);
        Eventually.holds("it runs", () -> world.holderOf("report").isPresent());
        work.completeExceptionally(new IllegalStateException("no"));
        RecordedRun failed = runs(2).get(0);
        assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(failed.failure()).isEqualTo("java.lang.IllegalStateException");
    }

    @Test
    @DisplayName("says that a lock was lost, whatever the task did after that")
    void lost() {
        assertThatThrownBy(() -> atAlice.<Object, RuntimeException>callIfDue(TaskOptions.atMost(HOUR), hold -> {
                    world.advance(HOUR);
                    return "too late";
                }))
                .isInstanceOf(LockLostException.class);
        assertThat(runs(1).get(0).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    @DisplayName("shows what it can't read as unknown: runs of later versions, and damage")
    void newerVersions() {
        world.ask(new RecordRun(NAME, 1, "1 s 1000 3000 <b>no+escape</b> "));
        world.ask(new RecordRun(NAME, 2, "1 ? 1000 3000 ann%40web 100%25 more words"));
        int token = 3;
        for (String text :
                List.of("2 s 1 2 a b", "", "1 s x 2 a b", "1 s 1 2 %zz b", "1 s 0 9223372036854775807 a b")) {
            world.ask(new RecordRun(NAME, token++, text));
        }
        List<RecordedRun> runs = runs(7);
        assertThat(runs.subList(0, 5)).allSatisfy(run -> {
            assertThat(run.outcome()).isEqualTo(Outcome.UNKNOWN);
            assertThat(run.took()).isEmpty();
            assertThat(run.label()).isEmpty();
        });
        assertThat(runs.get(5).outcome()).as("a later letter").isEqualTo(Outcome.UNKNOWN);
        assertThat(runs.get(5).took()).contains(Duration.ofSeconds(2));
        assertThat(runs.get(5).label()).isEqualTo("ann@web");
        assertThat(runs.get(5).failure()).isEqualTo("100%");
        assertThat(runs.get(6).label()).isEqualTo("<b>no escape</b>");
        run(atAlice, HOUR, Duration.ZERO);
        assertThat(runs(8)).extracting(RecordedRun::outcome).contains(Outcome.SUCCEEDED);
    }

    @Test
    @DisplayName("is written once for each run, and never for locks; a failure to write it changes nothing")
    void costs() {
        try (Hold hold = alice.lock("ledger").tryAcquire().orElseThrow()) {
            assertThat(hold.isHeld()).isTrue();
        }
        assertThat(link.sent(RecordRun.class)).isEmpty();
        run(atAlice, HOUR, Duration.ZERO);
        assertThat(runs(1)).hasSize(1);
        assertThat(link.sent(RecordRun.class)).hasSize(1);

        link.failNext(RecordRun.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, Duration.ZERO).value()).isEqualTo("done");
        world.advance(Duration.ofSeconds(1));
        assertThat(runs(2)).as("it is repeated").hasSize(2);

        link.fail(RecordRun.class, Reason.UNAVAILABLE, Effect.NONE);
        assertThat(run(atAlice, HOUR, Duration.ZERO).value()).isEqualTo("done");
        link.forget();
        world.advance(Duration.ofMinutes(1));
        assertThat(link.sent(RecordRun.class)).as("attempts are limited").hasSizeLessThan(3);
        assertThat(isDue(atBob)).isTrue();
    }

    @Test
    @DisplayName("is empty where the store keeps none, and nothing is sent then")
    void storesWithoutRuns() {
        FaultyLink without = world.link(WithoutRuns::new);
        Holdfast client = world.client("carol", without);
        run(client.task("report"), HOUR, Duration.ZERO);
        assertThat(without.sent(RecordRun.class)).isEmpty();
        without.answerNext(ListRuns.class, new Reply.Unsupported("no runs"));
        assertThat(client.runs("report")).isEmpty();
    }

    @Test
    @DisplayName("refuses invalid names before it asks the store")
    void names() {
        assertThatThrownBy(() -> alice.runs("")).isInstanceOf(IllegalArgumentException.class);
        assertThat(link.sent(ListRuns.class)).isEmpty();
    }

    @Test
    @DisplayName("is reported to listeners as it is recorded")
    void listeners() {
        Queue<RecordedRun> heard = new ConcurrentLinkedQueue<>();
        Holdfast client = world.client(world.builder("dave").listener(new HoldfastListener() {
            @Override
            public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
                return null;
            }

            @Override
            public void onTaskRun(String task, RecordedRun run) {
                assertThat(task).isEqualTo("report");
                heard.add(run);
            }
        }));
        run(client.task("report"), HOUR, Duration.ZERO);
        assertThat(heard).containsExactlyElementsOf(runs(1));
    }

    /** A store that keeps no runs. */
    private static final class WithoutRuns extends ForwardingStore {
        WithoutRuns(LockStore store) {
            super(store);
        }

        @Override
        public StoreTraits traits() {
            return super.traits().toBuilder().without(Feature.RUNS).build();
        }
    }
}
