package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Between processes")
class TwoProcessesTest {

    private static final Duration BUDGET = Duration.ofMillis(10);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink aliceLink = world.link();
    private final FaultyLink bobLink = world.link();
    private final DistributedLock atAlice = world.client("alice", aliceLink).lock("ledger");
    private final DistributedLock atBob = world.client("bob", bobLink).lock("ledger");

    /** A thread that asks for a lock, one after another, so that the order of the queue is known. */
    private final class QueuedThread {
        private final Actor actor;
        private final Doing<Hold> waiting;

        QueuedThread(String name, DistributedLock lock) {
            actor = world.actor(name);
            waiting = actor.startWaiting(() -> lock.acquire());
        }

        Hold awaitGrant() throws Exception {
            return waiting.result();
        }

        boolean isWaiting() {
            return !waiting.isDone();
        }

        void release() throws Exception {
            actor.run(awaitGrant()::close);
        }
    }

    /** Threads that ask for a lock one after another. */
    private List<QueuedThread> queue(int count, DistributedLock lock) {
        List<QueuedThread> queue = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            queue.add(new QueuedThread("here-" + i, lock));
        }
        return queue;
    }

    private static void release(List<QueuedThread> threads) throws Exception {
        for (QueuedThread thread : threads) {
            thread.release();
        }
    }

    /** Lets threads have the lock one after another, with rising tokens. The last one keeps it. */
    private static void passOn(List<QueuedThread> queue) throws Exception {
        long token = 0;
        for (int i = 0; i < queue.size(); i++) {
            Hold hold = queue.get(i).awaitGrant();
            assertThat(hold.fencingToken()).isGreaterThan(token);
            token = hold.fencingToken();
            if (i < queue.size() - 1) {
                assertThat(queue.get(i + 1).isWaiting()).isTrue();
                queue.get(i).release();
            }
        }
    }

    @Test
    @DisplayName("a fair lock is granted in the order in which they asked")
    void firstInFirstOut() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> queue = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            queue.add(new QueuedThread("asker-" + i, world.client("client-" + i).lock("ledger")));
        }
        assertThat(world.waitersOf("ledger")).isEqualTo(10);

        first.close();

        long token = 0;
        for (int i = 0; i < 10; i++) {
            assertThat(world.holderOf("ledger")).contains("client-" + i);
            Hold hold = queue.get(i).awaitGrant();
            assertThat(hold.fencingToken()).isGreaterThan(token);
            token = hold.fencingToken();
            for (int later = i + 1; later < 10; later++) {
                assertThat(queue.get(later).isWaiting()).isTrue();
            }
            queue.get(i).release();
        }
    }

    @Test
    @DisplayName("a grant is not missed if its push overtakes the answer that the claim is queued")
    @Tag("C15")
    void pushOvertakesTheAnswer() throws Exception {
        Hold first = atAlice.acquire();
        FaultyLink.HeldUp asking = bobLink.holdUpNext(Command.Acquire.class);
        QueuedThread bob = new QueuedThread("bob", atBob);
        Reply queued = asking.deliver();
        assertThat(queued).isInstanceOf(Reply.Queued.class);

        first.close();
        assertThat(world.holderOf("ledger")).contains("bob");
        asking.answer(queued);

        bob.release();
    }

    @Test
    @DisplayName("a pushed grant is believed without a question")
    @Tag("C20")
    void pushIsBelieved() throws Exception {
        Hold first = atAlice.acquire();
        QueuedThread bob = new QueuedThread("bob", atBob);

        first.close();

        bob.release();
        assertThat(bobLink.sent(Command.Poll.class)).isEmpty();
    }

    @Test
    @DisplayName("a pushed grant is not believed after a signal that it was revoked: the store is asked")
    @Tag("C2")
    void pushAfterRevocation() throws Exception {
        Hold first = atAlice.acquire();
        QueuedThread bob = new QueuedThread("bob", atBob);
        ClaimRef claim = bobLink.sent(Command.Acquire.class).get(0).claim();
        bobLink.signal(new Signal.Revoked(claim));
        bobLink.forget();
        FaultyLink.HeldUp question = bobLink.holdUpNext(Command.Poll.class);

        first.close();

        question.awaitCommand();
        assertThat(bob.isWaiting()).isTrue();
        question.proceed();
        bob.release();
    }

    @Test
    @DisplayName("a pushed grant is not believed while its session is in doubt: the store is asked")
    @Tag("C10")
    void pushInDoubt() throws Exception {
        FaultyLink link = world.link();
        Holdfast carol = world.client("carol", link);
        Hold other = carol.lock("other").acquireAsync().toCompletableFuture().join();
        Hold first = atAlice.acquire();
        QueuedThread waiting = new QueuedThread("waiting", carol.lock("ledger"));
        FaultyLink.HeldUp keepAlive = link.holdUpNext(Command.KeepAlive.class);
        FaultyLink.HeldUp question = link.holdUpNext(Command.Poll.class);
        world.time().stepWall(Duration.ofHours(1));
        assertThat(other.isHeld()).isFalse();

        first.close();

        question.awaitCommand();
        question.proceed();
        assertThat(waiting.isWaiting()).isTrue();
        keepAlive.proceed();
        waiting.release();
        other.close();
    }

    @Test
    @DisplayName("at most one claim of each waits at the store, however many threads ask")
    void oneClaimPerProcess() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> queue = queue(10, atBob);

        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        first.close();
        release(queue);
    }

    @Test
    @DisplayName(
            "a lock that is passed on within one costs the store nothing: the threads get it in their order, with rising tokens")
    @Tag("C4")
    void handOverWithoutTheStore() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> queue = queue(20, atAlice);
        first.close();
        // The first cohort begins with a block of one token, and asks for more once.
        queue.get(0).awaitGrant();
        aliceLink.forget();

        passOn(queue);
        assertThat(aliceLink.sent()).allMatch(command -> command instanceof Command.Advance);
        assertThat(aliceLink.sent().size()).isLessThanOrEqualTo(2);
        queue.get(19).release();
        assertThat(aliceLink.sent(Command.Release.class)).hasSize(1);
    }

    @Test
    @DisplayName(
            "one may pass the lock on in memory until its budget is spent; then it yields to the other, and asks again at the tail")
    @Tag("C8")
    void cohortBudget() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> here = queue(4, atAlice);
        QueuedThread there = new QueuedThread("there", atBob);

        first.close();
        here.get(0).release();
        here.get(1).awaitGrant();
        assertThat(there.isWaiting()).isTrue();

        // The budget is spent. Whether someone waits elsewhere is asked at a hand-over, so there may be one more.
        world.advance(BUDGET);
        here.get(1).release();
        boolean oneMore = world.holderOf("ledger").equals(Optional.of("alice"));
        if (oneMore) {
            here.get(2).release();
        }

        there.awaitGrant();
        assertThat(here.get(3).isWaiting()).isTrue();
        assertThat(aliceLink.sent(Command.Yield.class)).hasSize(1);
        assertThat(world.holderOf("ledger")).contains("bob");
        assertThat(world.waitersOf("ledger")).isEqualTo(1);
        there.release();
        if (!oneMore) {
            here.get(2).release();
        }
        here.get(3).release();
    }

    @Test
    @DisplayName("the budget begins with the first release: one long hold does not spend it")
    @Tag("C8")
    @Tag("C23")
    void budgetBeginsWithRelease() throws Exception {
        Hold first = world.client("carol").lock("ledger").acquire();
        List<QueuedThread> here = queue(4, atAlice);
        QueuedThread there = new QueuedThread("there", atBob);
        first.close();
        here.get(0).awaitGrant();

        world.advance(BUDGET.multipliedBy(2));
        here.get(0).release();
        here.get(1).awaitGrant();
        world.advance(BUDGET.dividedBy(2));
        here.get(1).release();
        here.get(2).awaitGrant();
        world.advance(BUDGET.dividedBy(2));
        here.get(2).release();

        there.awaitGrant();
        assertThat(here.get(3).isWaiting()).isTrue();
        there.release();
        here.get(3).release();
    }

    @Test
    @DisplayName("one that gives way after a short turn asks for about as many tokens as it needed in a longer one")
    @Tag("C23")
    void tokensAfterShortTurn() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> here = queue(66, atAlice);
        first.close();
        int next = 0;
        while (next < 60) {
            here.get(next++).release();
            // For the timer that asks for tokens.
            world.advance(Duration.ofNanos(1_000));
        }
        QueuedThread there = new QueuedThread("there", atBob);
        here.get(next).awaitGrant();
        world.advance(BUDGET);
        while (world.holderOf("ledger").equals(Optional.of("alice"))) {
            here.get(next++).release();
        }
        there.awaitGrant();
        QueuedThread elsewhere =
                new QueuedThread("elsewhere", world.client("carol").lock("ledger"));
        there.release();

        here.get(next++).release();
        here.get(next).awaitGrant();
        world.advance(BUDGET);
        aliceLink.forget();
        here.get(next++).release();

        assertThat(world.holderOf("ledger")).contains("carol");
        List<Command.Yield> yields = aliceLink.sent(Command.Yield.class);
        assertThat(yields).hasSize(1);
        assertThat(yields.get(0).next().tokens()).isGreaterThan(60);
        elsewhere.release();
        release(here.subList(next, here.size()));
    }

    @Test
    @DisplayName("it yields all the same if the store answers with something else when it is asked whether others wait")
    @Tag("C15")
    @Tag("C8")
    void unexpectedReply() throws Exception {
        Hold first = atAlice.acquire();
        List<QueuedThread> here = queue(6, atAlice);
        first.close();
        here.get(0).release();
        here.get(1).awaitGrant();
        QueuedThread there = new QueuedThread("there", atBob);
        aliceLink.answerNext(Command.Poll.class, new Reply.Done());

        int served = 1;
        while (served < 5) {
            world.advance(BUDGET.multipliedBy(10));
            // All are at rest, so the thread that was granted the lock knows it.
            if (!there.isWaiting()) {
                break;
            }
            here.get(served++).release();
        }

        assertThat(aliceLink.sent(Command.Poll.class)).hasSizeGreaterThan(1);
        there.release();
        release(here.subList(served, here.size()));
    }

    @Test
    @DisplayName(
            "the budget counts only while someone else waits: alone, one may pass the lock on for ever without giving it back")
    void budgetWithoutOthers() throws Exception {
        Hold first = atAlice.acquire();
        QueuedThread next = new QueuedThread("asker", atAlice);
        first.close();
        for (int i = 0; i < 50; i++) {
            world.advance(BUDGET.multipliedBy(2));
            QueuedThread after = new QueuedThread("asker-" + i, atAlice);
            next.release();
            next = after;
        }
        next.awaitGrant();
        assertThat(aliceLink.sent(Command.Yield.class)).isEmpty();
        assertThat(aliceLink.sent(Command.Release.class)).isEmpty();
        next.release();
    }

    @Test
    @DisplayName(
            "with a budget of zero they take turns: a grant serves the threads that waited when its claim was sent, "
                    + "in their order; later ones have to wait for whoever waits elsewhere")
    @Tag("C8")
    @Tag("C22")
    void strictTurns() throws Exception {
        Strict strict = new Strict();
        List<QueuedThread> here = new ArrayList<>();
        List<QueuedThread> there = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            there.add(new QueuedThread("there-" + i, strict.there));
            here.add(new QueuedThread("here-" + i, strict.here));
        }
        strict.first.close();

        // The claim from there was sent for the first of its threads.
        assertThat(world.holderOf("strict")).contains("there");
        there.get(0).release();
        strict.link.forget();
        long token = 0;
        for (int i = 0; i < 5; i++) {
            Hold hold = here.get(i).awaitGrant();
            assertThat(hold.fencingToken()).isGreaterThan(token);
            token = hold.fencingToken();
            here.add(new QueuedThread("later-" + i, strict.here));
            assertThat(strict.link.sent()).isEmpty();
            here.get(i).release();
        }
        assertThat(strict.link.sent(Command.Yield.class)).hasSize(1);
        for (QueuedThread thread : there.subList(1, 5)) {
            thread.awaitGrant();
            assertThat(here.get(5).isWaiting()).isTrue();
            thread.release();
        }
        release(here.subList(5, 10));
    }

    @Test
    @DisplayName(
            "with a budget of zero, a thread that comes when all others have left the queue is not served with them")
    @Tag("C22")
    void strictBatchEndsWithQueue() throws Exception {
        Strict strict = new Strict();
        QueuedThread there = new QueuedThread("there", strict.there);
        List<QueuedThread> here = queue(2, strict.here);
        strict.first.close();
        QueuedThread thereAgain = new QueuedThread("there again", strict.there);
        there.release();
        here.get(0).release();
        here.get(1).awaitGrant();

        QueuedThread later = new QueuedThread("later", strict.here);
        here.get(1).release();

        assertThat(world.holderOf("strict")).contains("there");
        assertThat(later.isWaiting()).isTrue();
        thereAgain.release();
        later.release();
    }

    /** Clients with strict order, and a thread that has the lock at the first one. */
    private final class Strict {
        private final FaultyLink link = world.link();
        private final DistributedLock here = world.client(
                        world.builder("here", link).cohortBudget(Duration.ZERO))
                .lock("strict");
        private final DistributedLock there =
                world.client(world.builder("there").cohortBudget(Duration.ZERO)).lock("strict");
        private final Hold first;

        Strict() throws InterruptedException {
            first = here.acquire();
        }
    }

    @Test
    @DisplayName("with a budget of zero and nobody waiting elsewhere, one question is enough for a while: "
            + "its threads get the lock in their order, with rising tokens")
    @Tag("C4")
    void strictHandOverInMemory() throws Exception {
        Strict strict = new Strict();
        List<QueuedThread> queue = queue(20, strict.here);
        strict.link.forget();

        strict.first.close();

        passOn(queue);
        assertThat(strict.link.sent(Command.Yield.class)).isEmpty();
        assertThat(strict.link.sent(Command.Poll.class)).hasSize(1);
        queue.get(19).release();
        assertThat(strict.link.sent(Command.Release.class)).hasSize(1);
    }

    @Test
    @DisplayName("with a budget of zero, nobody is passed for longer than an answer counts, "
            + "which is from the sending of its question on")
    @Tag("C22")
    void strictWindow() throws Exception {
        Strict strict = new Strict();
        List<QueuedThread> here = queue(4, strict.here);
        strict.first.close();
        here.get(0).awaitGrant();
        world.advance(Duration.ofMillis(1));
        FaultyLink.HeldUp question = strict.link.holdUpNext(Command.Poll.class);
        FaultyLink.HeldUp nextQuestion = strict.link.holdUpNext(Command.Poll.class);
        here.get(0).release();
        Reply nobodyWaits = question.deliver();
        QueuedThread there = new QueuedThread("there", strict.there);
        assertThat(here.get(1).isWaiting()).isTrue();
        world.advance(Duration.ofNanos(300_000));
        question.answer(nobodyWaits);

        // One and a half round trips.
        here.get(1).awaitGrant();
        world.advance(Duration.ofNanos(149_000));
        here.get(1).release();
        here.get(2).awaitGrant();
        world.advance(Duration.ofNanos(1_000));
        here.get(2).release();

        assertThat(here.get(3).isWaiting()).isTrue();
        assertThat(world.holderOf("strict")).contains("here");
        nextQuestion.proceed();
        assertThat(world.holderOf("strict")).contains("there");
        there.release();
        here.get(3).release();
    }

    @Test
    @DisplayName("with a budget of zero, an answer about an earlier grant does not count for the next one")
    @Tag("C22")
    void strictWindowOfEarlierGrant() throws Exception {
        Strict strict = new Strict();
        List<QueuedThread> before = queue(2, strict.here);
        strict.first.close();
        release(before);

        Hold again = strict.here.acquire();
        List<QueuedThread> here = queue(2, strict.here);
        QueuedThread there = new QueuedThread("there", strict.there);
        again.close();

        assertThat(world.holderOf("strict")).contains("there");
        there.release();
        release(here);
    }

    @Test
    @DisplayName("with a budget of zero, a question that is not answered is asked again")
    @Tag("C15")
    void strictQuestionLost() throws Exception {
        Strict strict = new Strict();
        List<QueuedThread> here = queue(2, strict.here);
        strict.link.failNext(Command.Poll.class, StoreException.Reason.UNAVAILABLE, StoreException.Effect.UNKNOWN);
        strict.link.answerNext(Command.Poll.class, new Reply.Done());

        strict.first.close();

        assertThat(here.get(0).isWaiting()).isTrue();
        world.advanceUntil("the store has answered", () -> !here.get(0).isWaiting());
        release(here);
        assertThat(strict.link.sent(Command.Yield.class)).isEmpty();
    }

    @Test
    @DisplayName("tokens rise over all of them, and over the time that nobody holds the lock")
    @Tag("C4")
    void tokensRiseEverywhere() throws Exception {
        long token = 0;
        for (int i = 0; i < 30; i++) {
            try (Hold hold = (i % 3 == 0 ? atAlice : atBob).acquire()) {
                assertThat(hold.fencingToken()).isGreaterThan(token);
                token = hold.fencingToken();
            }
            if (i % 7 == 0) {
                world.advance(Duration.ofHours(1));
            }
        }
    }

    @Test
    @DisplayName("a bounded hold is never passed on, and the process that asked next gets the lock")
    @Tag("C8")
    void boundedHold() throws Exception {
        Hold first = atAlice.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(20)));
        QueuedThread here = new QueuedThread("here", atAlice);
        QueuedThread there = new QueuedThread("there", atBob);

        first.close();

        there.awaitGrant();
        assertThat(here.isWaiting()).isTrue();
        there.release();
        here.release();
    }

    @Test
    @DisplayName("a holder that dies blocks the others for its lease and not longer, though nothing is pushed")
    @Tag("C15")
    void deadHolder() throws Exception {
        Hold hold = atAlice.acquire();
        aliceLink.cut();
        bobLink.loseSignals();
        QueuedThread there = new QueuedThread("there", atBob);

        world.advance(Duration.ofSeconds(30).minusMillis(1));
        assertThat(there.isWaiting()).isTrue();
        world.advance(Duration.ofSeconds(3));

        assertThat(there.awaitGrant().isHeld()).isTrue();
        assertThat(hold.isHeld()).isFalse();
        there.release();
        aliceLink.mend();
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
    }
}
