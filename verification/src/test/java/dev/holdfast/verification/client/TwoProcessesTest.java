package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Line;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Between processes")
class TwoProcessesTest {

    private static final Duration BUDGET = Duration.ofMillis(10);

    private final World world = World.still();
    private final Line aliceLine = world.line();
    private final Line bobLine = world.line();
    private final DistributedLock atAlice = world.client("alice", aliceLine).lock("ledger");
    private final DistributedLock atBob = world.client("bob", bobLine).lock("ledger");

    @AfterEach
    void close() {
        world.close();
    }

    /** A thread that asks for a lock, one after another, so that the order of the queue is known. */
    private final class Asker {
        private final Actor actor;
        private final Doing<Hold> waiting;

        Asker(String name, DistributedLock lock) {
            actor = world.actor(name);
            waiting = actor.waitsFor(() -> lock.acquire());
        }

        Hold isGranted() throws Exception {
            return waiting.result();
        }

        boolean isWaiting() {
            return !waiting.isDone();
        }

        void releases() throws Exception {
            actor.performs(isGranted()::close);
        }
    }

    @Test
    @DisplayName("a fair lock is granted in the order in which they asked")
    void firstInFirstOut() throws Exception {
        Hold first = atAlice.acquire();
        List<Asker> queue = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            queue.add(new Asker("asker-" + i, world.client("client-" + i).lock("ledger")));
        }
        assertThat(world.waitersOf("ledger")).isEqualTo(10);

        first.close();

        long token = 0;
        for (int i = 0; i < 10; i++) {
            assertThat(world.holderOf("ledger")).contains("client-" + i);
            Hold hold = queue.get(i).isGranted();
            assertThat(hold.fencingToken()).isGreaterThan(token);
            token = hold.fencingToken();
            for (int later = i + 1; later < 10; later++) {
                assertThat(queue.get(later).isWaiting()).isTrue();
            }
            queue.get(i).releases();
        }
    }

    @Test
    @DisplayName("a grant is not missed if its push overtakes the answer that the claim is queued")
    @Tag("C15")
    void pushOvertakesTheAnswer() throws Exception {
        Hold first = atAlice.acquire();
        Line.HeldUp asking = bobLine.holdsUpNext(Command.Acquire.class);
        Asker bob = new Asker("bob", atBob);
        Reply queued = asking.arrives();
        assertThat(queued).isInstanceOf(Reply.Queued.class);

        first.close();
        assertThat(world.holderOf("ledger")).contains("bob");
        asking.isAnswered(queued);

        bob.releases();
    }

    @Test
    @DisplayName("at most one claim of each waits at the store, however many threads ask")
    void oneClaimPerProcess() throws Exception {
        Hold first = atAlice.acquire();
        List<Asker> queue = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            queue.add(new Asker("asker-" + i, atBob));
        }

        assertThat(world.waitersOf("ledger")).isEqualTo(1);

        first.close();
        for (Asker asker : queue) {
            asker.releases();
        }
    }

    @Test
    @DisplayName(
            "a lock that is passed on within one costs the store nothing: the threads get it in their order, with rising tokens")
    @Tag("C4")
    void handOverWithoutTheStore() throws Exception {
        Hold first = atAlice.acquire();
        List<Asker> queue = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            queue.add(new Asker("asker-" + i, atAlice));
        }
        first.close();
        // The first cohort begins with a block of one token, and asks for more once.
        queue.get(0).isGranted();
        aliceLine.forget();

        long token = queue.get(0).isGranted().fencingToken();
        queue.get(0).releases();
        for (int i = 1; i < 20; i++) {
            Hold hold = queue.get(i).isGranted();
            assertThat(hold.fencingToken()).isGreaterThan(token);
            token = hold.fencingToken();
            if (i < 19) {
                queue.get(i).releases();
            }
        }
        assertThat(aliceLine.sent()).allMatch(command -> command instanceof Command.Advance);
        assertThat(aliceLine.sent().size()).isLessThanOrEqualTo(2);
        queue.get(19).releases();
        assertThat(aliceLine.sent(Command.Release.class)).hasSize(1);
    }

    @Test
    @DisplayName(
            "one may pass the lock on in memory until its budget is spent; then it yields to the other, and asks again at the tail")
    @Tag("C8")
    void cohortBudget() throws Exception {
        Hold first = atAlice.acquire();
        List<Asker> here = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            here.add(new Asker("here-" + i, atAlice));
        }
        Asker there = new Asker("there", atBob);

        first.close();
        here.get(0).releases();
        here.get(1).isGranted();
        assertThat(there.isWaiting()).isTrue();

        // The budget is spent. Whether someone waits elsewhere is asked at a hand-over, so there may be one more.
        world.passes(BUDGET);
        here.get(1).releases();
        boolean oneMore = world.holderOf("ledger").equals(Optional.of("alice"));
        if (oneMore) {
            here.get(2).releases();
        }

        there.isGranted();
        assertThat(here.get(3).isWaiting()).isTrue();
        assertThat(aliceLine.sent(Command.Yield.class)).hasSize(1);
        assertThat(world.holderOf("ledger")).contains("bob");
        assertThat(world.waitersOf("ledger")).isEqualTo(1);
        there.releases();
        if (!oneMore) {
            here.get(2).releases();
        }
        here.get(3).releases();
    }

    @Test
    @DisplayName("it yields all the same if the store answers with something else when it is asked whether others wait")
    @Tag("C15")
    @Tag("C8")
    void unexpectedReply() throws Exception {
        Hold first = atAlice.acquire();
        List<Asker> here = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            here.add(new Asker("here-" + i, atAlice));
        }
        first.close();
        here.get(0).releases();
        here.get(1).isGranted();
        Asker there = new Asker("there", atBob);
        aliceLine.answersNext(Command.Poll.class, new Reply.Done());

        int served = 1;
        while (there.isWaiting() && served < 5) {
            world.passes(BUDGET.multipliedBy(10));
            here.get(served++).releases();
        }

        assertThat(aliceLine.sent(Command.Poll.class)).hasSizeGreaterThan(1);
        there.releases();
        for (Asker asker : here.subList(served, here.size())) {
            asker.releases();
        }
    }

    @Test
    @DisplayName(
            "the budget counts only while someone else waits: alone, one may pass the lock on for ever without giving it back")
    void budgetWithoutOthers() throws Exception {
        Hold first = atAlice.acquire();
        Asker next = new Asker("asker", atAlice);
        first.close();
        for (int i = 0; i < 50; i++) {
            world.passes(BUDGET.multipliedBy(2));
            Asker after = new Asker("asker-" + i, atAlice);
            next.releases();
            next = after;
        }
        next.isGranted();
        assertThat(aliceLine.sent(Command.Yield.class)).isEmpty();
        assertThat(aliceLine.sent(Command.Release.class)).isEmpty();
        next.releases();
    }

    @Test
    @DisplayName("with a budget of zero they take turns: whoever waits elsewhere comes before the next thread here")
    @Tag("C8")
    void strictTurns() throws Exception {
        DistributedLock here =
                world.client(world.builder("here").cohortBudget(Duration.ZERO)).lock("strict");
        DistributedLock there =
                world.client(world.builder("there").cohortBudget(Duration.ZERO)).lock("strict");
        Hold first = here.acquire();
        List<Asker> atHere = new ArrayList<>();
        List<Asker> atThere = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            atThere.add(new Asker("there-" + i, there));
            atHere.add(new Asker("here-" + i, here));
        }
        first.close();

        for (int i = 0; i < 5; i++) {
            assertThat(world.holderOf("strict")).contains("there");
            atThere.get(i).releases();
            assertThat(world.holderOf("strict")).contains("here");
            atHere.get(i).releases();
        }
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
                world.passes(Duration.ofHours(1));
            }
        }
    }

    @Test
    @DisplayName("a bounded hold is never passed on, and the process that asked next gets the lock")
    @Tag("C8")
    void boundedHold() throws Exception {
        Hold first = atAlice.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(20)));
        Asker here = new Asker("here", atAlice);
        Asker there = new Asker("there", atBob);

        first.close();

        there.isGranted();
        assertThat(here.isWaiting()).isTrue();
        there.releases();
        here.releases();
    }

    @Test
    @DisplayName("a holder that dies blocks the others for its lease and not longer, though nothing is pushed")
    @Tag("C15")
    void deadHolder() throws Exception {
        Hold hold = atAlice.acquire();
        aliceLine.isCut();
        bobLine.losesSignals();
        Asker there = new Asker("there", atBob);

        world.passes(Duration.ofSeconds(30).minusMillis(1));
        assertThat(there.isWaiting()).isTrue();
        world.passes(Duration.ofSeconds(3));

        assertThat(there.isGranted().isHeld()).isTrue();
        assertThat(hold.isHeld()).isFalse();
        there.releases();
        aliceLine.isMended();
        assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
    }
}
