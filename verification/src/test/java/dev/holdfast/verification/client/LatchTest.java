package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A count-down latch")
class LatchTest extends LatchFixture {

    @Nested
    @DisplayName("is set")
    @Tag("N1")
    class Setting {

        @Test
        @DisplayName("once, and who comes later learns that another was quicker")
        void once() {
            assertThat(atAlice.count()).isZero();
            assertThat(atAlice.generation()).isZero();

            assertThat(atAlice.trySetCount(3)).isTrue();
            assertThat(atAlice.trySetCount(3)).isFalse();
            assertThat(atBob.trySetCount(5)).isFalse();

            assertThat(atBob.count()).isEqualTo(3);
            assertThat(atAlice.count()).isEqualTo(3);
            assertThat(atAlice.generation()).isEqualTo(atBob.generation()).isPositive();
        }

        @Test
        @DisplayName("by one of two that ask at the same moment, and each knows by which")
        void race() throws Exception {
            for (int i = 0; i < 5; i++) {
                FaultyLink.HeldUp aliceSets = link.holdUpNext(SetCount.class);
                Doing<Boolean> first = actor.start(() -> atAlice.trySetCount(2));
                aliceSets.awaitCommand();

                assertThat(atBob.trySetCount(2)).isTrue();
                aliceSets.proceed();

                assertThat(first.result()).isFalse();
                atAlice.countDown();
                atAlice.countDown();
            }
        }

        @Test
        @DisplayName("by a call whose answer was lost, and which knows it all the same")
        void answerLost() throws Exception {
            link.loseReplyToNext(SetCount.class);
            Doing<Boolean> setting = actor.start(() -> atAlice.trySetCount(2));
            Eventually.holds("it is set", () -> atBob.count() == 2);
            link.forget();

            world.advanceUntil("it is answered", setting::isDone);

            assertThat(setting.result()).isTrue();
            assertThat(link.sent(KeepAlive.class)).isNotEmpty();
            assertThat(link.sent(SetCount.class)).hasSize(1);
        }

        @Test
        @DisplayName("by a call whose request was lost and that another has overtaken, and which knows that too")
        void overtaken() throws Exception {
            link.loseNext(SetCount.class);
            Doing<Boolean> setting = actor.start(() -> atAlice.trySetCount(2));
            Eventually.holds("it is under way", () -> link.sent(SetCount.class).size() == 1);
            assertThat(atBob.trySetCount(7)).isTrue();

            world.advanceUntil("it is answered", setting::isDone);

            assertThat(setting.result()).isFalse();
            assertThat(atAlice.count()).isEqualTo(7);
        }

        @Test
        @DisplayName("or says that it does not know, where a later generation hides what became of its own")
        void hidden() throws Exception {
            link.loseReplyToNext(SetCount.class);
            Doing<Boolean> setting = actor.start(() -> atAlice.trySetCount(1));
            Eventually.holds("it is set", () -> atBob.count() == 1);
            atBob.countDown();
            assertThat(atBob.trySetCount(1)).isTrue();

            world.advanceUntil("it is answered", setting::isDone);

            assertThatThrownBy(setting::result).isInstanceOf(StoreUnavailableException.class);
        }

        @Test
        @DisplayName("under the next session if the one that asked has ended")
        void sessionEnded() throws Exception {
            link.answerNext(SetCount.class, new Reply.SessionEnded());
            Doing<Boolean> setting = actor.start(() -> atAlice.trySetCount(2));

            world.advanceUntil("it is answered", setting::isDone);

            assertThat(setting.result()).isTrue();
        }

        @Test
        @DisplayName("without blocking")
        void async() {
            assertThat(atAlice.trySetCountAsync(2).toCompletableFuture().join()).isTrue();
            assertThat(atAlice.trySetCountAsync(2).toCompletableFuture().join()).isFalse();
            assertThat(atAlice.countAsync().toCompletableFuture().join()).isEqualTo(2);
        }
    }

    @Nested
    @DisplayName("counts")
    class Counting {

        @Test
        @Tag("N2")
        @DisplayName("to zero and not below, stays open, and can be set again")
        void toZero() throws Exception {
            assertThat(atAlice.trySetCount(2)).isTrue();
            long first = atAlice.generation();
            assertThat(atBob.countDown()).isEqualTo(1);
            assertThat(waits(atAlice)).isTrue();
            assertThat(atAlice.countDown()).isZero();
            assertThat(atAlice.countDown()).isZero();
            assertThat(atAlice.count()).isZero();
            atBob.await();
            assertThat(atBob.generation()).isEqualTo(first);

            assertThat(atBob.trySetCount(1)).isTrue();
            assertThat(atBob.generation()).isGreaterThan(first);
            assertThat(waits(atAlice)).isTrue();
            // Alice knows the generation before; she means the present one.
            assertThat(atAlice.countDown()).isZero();
            atAlice.await();
        }

        @Test
        @Tag("N2")
        @DisplayName("nothing where it was never set")
        void neverSet() throws Exception {
            assertThat(atAlice.countDown()).isZero();
            assertThat(atAlice.countDown("a")).isZero();
            assertThat(atAlice.countDown("a", 1)).isFalse();
            atAlice.await();
        }

        @Test
        @Tag("N3")
        @DisplayName("each id once")
        void ids() {
            assertThat(atAlice.trySetCount(5)).isTrue();
            assertThat(atAlice.countDown("file-1")).isEqualTo(4);
            assertThat(atAlice.countDown("file-1")).isEqualTo(4);
            assertThat(atBob.countDown("file-1")).isEqualTo(4);
            assertThat(atBob.countDown("file-2")).isEqualTo(3);
            assertThat(atBob.countDownAsync("file-2").toCompletableFuture().join())
                    .isEqualTo(3);
            assertThat(atBob.countDown()).isEqualTo(2);
            assertThat(atBob.countDown()).isEqualTo(1);
        }

        @Test
        @Tag("N3")
        @DisplayName("once what it had to send twice, under the same id")
        void unknownOutcome() throws Exception {
            assertThat(atAlice.trySetCount(5)).isTrue();
            for (int i = 0; i < 2; i++) {
                long before = atBob.count();
                if (i == 0) {
                    link.loseReplyToNext(CountDown.class);
                } else {
                    link.failNext(CountDown.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
                }
                link.forget();
                Doing<Long> counting = actor.start(() -> atAlice.countDown());

                world.advanceUntil("it is answered", counting::isDone);

                assertThat(counting.result()).isEqualTo(before - 1);
                assertThat(atBob.count()).isEqualTo(before - 1);
                assertThat(link.sent(CountDown.class).stream()
                                .map(CountDown::id)
                                .distinct())
                        .hasSize(1);
            }
        }

        @Test
        @Tag("N3")
        @DisplayName("and tells the id when the store does not answer in time, so that it can be repeated")
        void unanswered() throws Exception {
            assertThat(atAlice.trySetCount(5)).isTrue();
            link.loseReplyToNext(CountDown.class);
            link.fail(CountDown.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
            Doing<Long> counting = actor.start(() -> atAlice.countDown("file-1"));
            Eventually.holds("it has counted", () -> atBob.count() == 4);

            world.advanceUntil("it is given up", counting::isDone);

            assertThatThrownBy(counting::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("file-1")
                    .hasMessageContaining("imported");
            link.mend();
            world.advance(STORE_TIMEOUT);
            assertThat(atAlice.countDown("file-1")).isEqualTo(4);
        }

        @Test
        @Tag("N4")
        @DisplayName("in no later generation than that in which the call began: its first sending may have counted")
        void notInALaterGeneration() throws Exception {
            assertThat(atAlice.trySetCount(2)).isTrue();
            link.loseReplyToNext(CountDown.class);
            Doing<Long> counting = actor.start(() -> atAlice.countDown("file-1"));
            Eventually.holds("it has counted", () -> atBob.count() == 1);
            atBob.countDown();
            assertThat(atBob.trySetCount(3)).isTrue();

            world.advanceUntil("it is answered", counting::isDone);

            assertThatThrownBy(counting::result)
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("file-1");
            assertThat(atBob.count()).isEqualTo(3);
        }

        @Test
        @Tag("N3")
        @DisplayName("and never says that it has where it has not: a sending that found another generation, unanswered")
        void notSaidInVain() throws Exception {
            assertThat(atAlice.trySetCount(1)).isTrue();
            atBob.countDown();
            assertThat(atBob.trySetCount(3)).isTrue();
            link.loseReplyToNext(CountDown.class);
            Doing<Long> counting = actor.start(() -> atAlice.countDown("file-1"));

            world.advanceUntil("it is answered", counting::isDone);

            assertThatThrownBy(counting::result).isInstanceOf(StoreUnavailableException.class);
            assertThat(atBob.count()).isEqualTo(3);
            assertThat(atAlice.countDown("file-1")).isEqualTo(2);
            assertThat(atBob.count()).isEqualTo(2);
        }

        @Test
        @Tag("N4")
        @DisplayName("in the generation that is asked for, and in no other")
        void inOneGeneration() {
            assertThat(atAlice.trySetCount(2)).isTrue();
            long first = atAlice.generation();
            assertThat(atBob.countDown("a", first)).isTrue();
            assertThat(atBob.countDown("a", first)).isTrue();
            assertThat(atBob.count()).isEqualTo(1);
            assertThat(atBob.countDown("b", first + 1)).isFalse();
            assertThat(atBob.count()).isEqualTo(1);
            assertThat(atBob.countDown("b", first)).isTrue();
            assertThat(atBob.trySetCount(2)).isTrue();
            assertThat(atAlice.countDown("a", first)).isFalse();
            assertThat(atAlice.count()).isEqualTo(2);
        }

        @Test
        @Tag("N4")
        @DisplayName("a late duplicate of another generation hurts nobody")
        void lateDuplicate() throws Exception {
            assertThat(atAlice.trySetCount(1)).isTrue();
            FaultyLink.HeldUp late = link.holdUpNext(CountDown.class);
            Doing<Long> counting = actor.start(() -> atAlice.countDown("a"));
            Command duplicate = late.awaitCommand();
            late.proceed();
            assertThat(counting.result()).isZero();
            assertThat(atBob.trySetCount(2)).isTrue();

            world.ask(duplicate);

            assertThat(atBob.count()).isEqualTo(2);
        }
    }

    @Test
    @Tag("N6")
    @DisplayName("belongs to nobody: it counts on when all who knew it are gone")
    void belongsToNobody() {
        assertThat(atAlice.trySetCount(2)).isTrue();
        atAlice.countDown("a");
        alice.close();
        world.advance(Duration.ofMinutes(5));

        DistributedCountDownLatch later = world.client("carol").latch("imported");

        assertThat(later.count()).isEqualTo(1);
        assertThat(later.countDown("a")).isEqualTo(1);
        assertThat(later.countDown("b")).isZero();
    }

    @Nested
    @DisplayName("refuses")
    @Tag("N7")
    class BadInput {

        @Test
        @DisplayName("odd input, before anything is asked")
        void oddInput() {
            link.forget();
            assertThatThrownBy(() -> alice.latch(" ")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> atAlice.trySetCount(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> atAlice.trySetCount(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> atAlice.trySetCountAsync(0)).isInstanceOf(IllegalArgumentException.class);
            Stream.of("", " ", "a b", "é", "x".repeat(65), "a\n").forEach(id -> {
                assertThatThrownBy(() -> atAlice.countDown(id)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> atAlice.countDownAsync(id)).isInstanceOf(IllegalArgumentException.class);
            });
            assertThatThrownBy(() -> atAlice.countDown("a", 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> atAlice.countDown("a", -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> atAlice.await(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
            assertThat(link.sent()).isEmpty();
        }

        @Test
        @DisplayName("a name that is in use as something else, and is refused to who uses it otherwise")
        void mismatch() throws Exception {
            Hold hold = bob.lock("ledger").acquire();
            DistributedCountDownLatch ledger = alice.latch("ledger");
            assertThatThrownBy(() -> ledger.trySetCount(1)).isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(ledger::countDown).isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(ledger::count).isInstanceOf(LockMismatchException.class);
            assertThatThrownBy(ledger::await).isInstanceOf(LockMismatchException.class);
            hold.close();

            assertThat(atAlice.trySetCount(1)).isTrue();
            assertThatThrownBy(() -> bob.lock("imported").acquire()).isInstanceOf(LockMismatchException.class);
        }

        @Test
        @DisplayName("to guess what the store means by an answer, or by none")
        void storeRefuses() {
            link.failNext(CountDown.class, Reason.DENIED, Effect.NONE);
            assertThatThrownBy(atAlice::countDown).isInstanceOf(StoreRefusedException.class);
            link.answerNext(CountDown.class, new Reply.Done());
            assertThatThrownBy(atAlice::countDown)
                    .isInstanceOf(dev.holdfast.HoldfastException.class)
                    .hasMessageContaining("imported");
        }
    }
}
