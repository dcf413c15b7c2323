package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A count-down latch")
class LatchWaitingTest extends LatchFixture {

    @Nested
    @DisplayName("lets pass")
    class Waiting {

        @Test
        @Tag("N2")
        @DisplayName("all who wait, in every client, when it opens, also if it is set anew at once")
        void allPass() throws Exception {
            assertThat(atAlice.trySetCount(1)).isTrue();
            List<Doing<Boolean>> waiting = new ArrayList<>();
            List<CompletableFuture<Void>> stages = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                DistributedCountDownLatch latch = i % 2 == 0 ? atAlice : atBob;
                waiting.add(world.actor("waiter-" + i).startWaiting(() -> latch.await(Duration.ofHours(1))));
                stages.add(latch.awaitAsync().toCompletableFuture());
            }
            assertThat(waiting).noneMatch(Doing::isDone);

            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();

            for (Doing<Boolean> waiter : waiting) {
                assertThat(waiter.result()).isTrue();
            }
            stages.forEach(CompletableFuture::join);
            assertThat(waits(atAlice)).isTrue();
        }

        @Test
        @Tag("N2")
        @DisplayName("all who wait, also those who came when their process waited already, if it is set anew at once")
        void thoseWhoCameLater() {
            assertThat(atAlice.trySetCount(1)).isTrue();
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                waiting.add(atAlice.awaitAsync().toCompletableFuture());
            }
            link.loseSignals();
            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();
            link.mend();

            world.advanceUntil("all have passed", () -> waiting.stream().allMatch(CompletableFuture::isDone));
        }

        @Test
        @Tag("N2")
        @DisplayName("who was found to wait, even if word of the opening overtakes that")
        void overtakenByTheOpening() {
            assertThat(atAlice.trySetCount(1)).isTrue();
            CompletableFuture<Void> first = atAlice.awaitAsync().toCompletableFuture();
            FaultyLink.HeldUp poll = link.holdUpNext(Command.Poll.class);
            CompletableFuture<Void> second = atAlice.awaitAsync().toCompletableFuture();
            Reply stillWaits = poll.deliver();
            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();
            Eventually.holds("the first has passed", first::isDone);

            poll.answer(stillWaits);

            Eventually.holds("the second has passed", second::isDone);
            assertThat(atBob.count()).isEqualTo(1);
        }

        @Test
        @Tag("N2")
        @DisplayName("nobody who came after it was set anew, though their process has yet to hear that it was open")
        void nobodyOfTheNextGeneration() {
            assertThat(atAlice.trySetCount(1)).isTrue();
            CompletableFuture<Void> first = atAlice.awaitAsync().toCompletableFuture();
            link.loseSignals();
            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();
            link.mend();

            CompletableFuture<Void> second = atAlice.awaitAsync().toCompletableFuture();
            world.advanceUntil("the first has passed", first::isDone);
            world.advance(Duration.ofSeconds(1));
            assertThat(second).isNotDone();

            atBob.countDown();
            world.advanceUntil("the second has passed", second::isDone);
        }

        @Test
        @Tag("N2")
        @DisplayName("who tries when it is open, though others of the process have yet to hear of it")
        void triesAmongWaiters() throws Exception {
            assertThat(atAlice.trySetCount(1)).isTrue();
            CompletableFuture<Void> first = atAlice.awaitAsync().toCompletableFuture();
            assertThat(waits(atAlice)).isTrue();
            link.loseSignals();
            atBob.countDown();

            assertThat(waits(atAlice)).isFalse();

            Eventually.holds("the first has passed", first::isDone);
        }

        @Test
        @Tag("N2")
        @DisplayName("all who wait, also if the store can't say for a while whether they do")
        void unansweredWhetherTheyWait() {
            assertThat(atAlice.trySetCount(1)).isTrue();
            CompletableFuture<Void> first = atAlice.awaitAsync().toCompletableFuture();
            link.fail(Command.Poll.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            link.forget();
            CompletableFuture<Void> second = atAlice.awaitAsync().toCompletableFuture();
            world.advance(Duration.ofSeconds(4));
            assertThat(link.sent(Command.Poll.class)).hasSizeBetween(3, 40);
            link.mend();
            world.advance(Duration.ofSeconds(1));
            link.loseSignals();
            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();
            link.mend();

            world.advanceUntil("both have passed", () -> first.isDone() && second.isDone());
        }

        @Test
        @Tag("N2")
        @DisplayName("all who wait, where nothing is pushed")
        void withoutSignals() throws Exception {
            link.loseSignals();
            assertThat(atBob.trySetCount(1)).isTrue();
            Doing<Boolean> waiting = actor.startWaiting(() -> atAlice.await(Duration.ofHours(1)));
            atBob.countDown();

            world.advanceUntil("it passes", waiting::isDone);

            assertThat(waiting.result()).isTrue();
        }

        @Test
        @Tag("N5")
        @DisplayName("nobody whose wait is over, was interrupted or cancelled: they leave, and nothing is left")
        void leaving() throws Exception {
            assertThat(atBob.trySetCount(1)).isTrue();
            Doing<Boolean> timesOut = actor.startWaiting(() -> atAlice.await(Duration.ofSeconds(5)));
            Actor interrupted = world.actor("interrupted");
            Doing<Boolean> waits = interrupted.startWaiting(() -> {
                atAlice.await();
                return true;
            });
            CompletableFuture<Void> stage = atAlice.awaitAsync().toCompletableFuture();
            Eventually.holds("they wait at the store", () -> world.waitersOf("imported") > 0);

            interrupted.interrupt();
            assertThatThrownBy(waits::result).isInstanceOf(InterruptedException.class);
            assertThat(stage.cancel(false)).isTrue();
            world.advanceUntil("the wait is over", timesOut::isDone);
            assertThat(timesOut.result()).isFalse();

            Eventually.holds("nobody waits at the store", () -> world.waitersOf("imported") == 0);
            assertThatThrownBy(() -> actor.call(() -> {
                        Thread.currentThread().interrupt();
                        return atAlice.await(Duration.ofSeconds(5));
                    }))
                    .isInstanceOf(InterruptedException.class);
        }

        @Test
        @Tag("N5")
        @DisplayName("nobody whose client was closed")
        void closed() throws Exception {
            assertThat(atBob.trySetCount(1)).isTrue();
            Doing<Boolean> waiting = actor.startWaiting(() -> atAlice.await(Duration.ofHours(1)));
            CompletableFuture<Void> stage = atAlice.awaitAsync().toCompletableFuture();
            FaultyLink.HeldUp heldUp = link.holdUpNext(CountDown.class);
            CompletableFuture<Long> counting = atAlice.countDownAsync("a").toCompletableFuture();
            heldUp.awaitCommand();

            alice.close();

            assertThatThrownBy(waiting::result).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(stage::join).hasCauseInstanceOf(ClientClosedException.class);
            assertThatThrownBy(counting::join).hasCauseInstanceOf(ClientClosedException.class);
            assertThatThrownBy(atAlice::count).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(atAlice::countDown).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> atAlice.trySetCount(1)).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> alice.latch("b")).isInstanceOf(ClientClosedException.class);
        }

        @Test
        @Tag("N5")
        @DisplayName("those whose session ended while they waited, once there is another")
        void sessionEnded() throws Exception {
            assertThat(atBob.trySetCount(1)).isTrue();
            Doing<Boolean> waiting = actor.startWaiting(() -> atAlice.await(Duration.ofHours(1)));
            Eventually.holds("it waits at the store", () -> world.waitersOf("imported") == 1);
            link.loseSignals();
            world.time().suspend(Duration.ofSeconds(31));
            world.advanceUntil("it waits again", () -> world.waitersOf("imported") == 1);

            atBob.countDown();

            world.advanceUntil("it passes", waiting::isDone);
            assertThat(waiting.result()).isTrue();
        }
    }
}
