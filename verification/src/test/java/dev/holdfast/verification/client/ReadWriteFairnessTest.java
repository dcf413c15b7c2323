package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("No writer starves")
@Tag("D3")
class ReadWriteFairnessTest {

    private static final Duration BUDGET = Duration.ofMillis(10);
    private static final Duration TURN = Duration.ofMillis(1);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final DistributedReadWriteLock here = world.client("alice", link).readWriteLock("catalogue");
    private final DistributedReadWriteLock there = world.client("bob").readWriteLock("catalogue");

    private HolderThread<Hold> reading(String name, DistributedReadWriteLock lock) throws Exception {
        return HolderThread.holding(world, name, () -> lock.readLock().acquire());
    }

    private HolderThread<Hold> toRead(String name, DistributedReadWriteLock lock) {
        return HolderThread.waiting(world, name, () -> lock.readLock().acquire());
    }

    private HolderThread<Hold> toWrite(String name, DistributedReadWriteLock lock) {
        return HolderThread.waiting(world, name, () -> lock.writeLock().acquire());
    }

    @Test
    @DisplayName("readers of its process go past a writer for a turn, and wait behind it from then on")
    void turnOfTheReaders() throws Exception {
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> writer = toWrite("writer", here);

        world.advance(TURN.minusNanos(1));
        HolderThread<Hold> inTheTurn = reading("in the turn", here);
        world.advance(Duration.ofNanos(1));
        HolderThread<Hold> afterIt = toRead("after it", here);

        first.release();
        inTheTurn.release();
        assertThat(writer.awaitGrant().isHeld()).isTrue();
        assertThat(afterIt.isWaiting()).isTrue();
        writer.release();
        afterIt.release();
    }

    @Test
    @DisplayName("however many readers come, overlapping without an end")
    void endlessReadersHere() throws Exception {
        Deque<HolderThread<Hold>> readers = new ArrayDeque<>();
        readers.add(reading("reader", here));
        HolderThread<Hold> writer = toWrite("writer", here);
        List<HolderThread<Hold>> behind = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(reading("reader-" + i, here));
            readers.remove().release();
            world.advance(TURN.dividedBy(5));
        }
        for (int i = 0; i < 5; i++) {
            behind.add(toRead("behind-" + i, here));
        }

        readers.remove().release();

        assertThat(writer.awaitGrant().isHeld()).isTrue();
        writer.release();
        for (HolderThread<Hold> reader : behind) {
            reader.release();
        }
    }

    /** A clock that jumps past the end of a budget when it is read for the n-th time. */
    private record JumpingClock(Environment usual, AtomicInteger readsLeft, AtomicLong offset) implements Environment {

        JumpingClock(Environment usual) {
            this(usual, new AtomicInteger(-1), new AtomicLong());
        }

        @Override
        public long monotonicNanos() {
            if (readsLeft.get() > 0 && readsLeft.decrementAndGet() == 0) {
                offset.addAndGet(BUDGET.multipliedBy(2).toNanos());
            }
            return usual.monotonicNanos() + offset.get();
        }

        @Override
        public long bootNanos() {
            return usual.bootNanos() + offset.get();
        }

        @Override
        public long wallMillis() {
            return usual.wallMillis() + TimeUnit.NANOSECONDS.toMillis(offset.get());
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return usual.schedule(delayNanos, task);
        }

        @Override
        public void parkUntil(Object blocker, long deadline) {
            usual.parkUntil(blocker, deadline - offset.get());
        }

        @Override
        public Executor callbacks() {
            return usual.callbacks();
        }

        @Override
        public long randomLong() {
            return usual.randomLong();
        }
    }

    @ParameterizedTest
    @MethodSource("numbers")
    @DisplayName("a budget that ends while readers are being served takes the lock from none of them")
    @Tag("C1")
    void budgetEndsAmongReaders(int read) throws Exception {
        JumpingClock clock = new JumpingClock(world.time());
        DistributedReadWriteLock jumping = world.client(
                        Holdfast.builder(world.link()).label("jumping").environment(clock))
                .readWriteLock("catalogue");
        HolderThread<Hold> first =
                HolderThread.holding(world, "first", () -> there.writeLock().acquire());
        HolderThread<Hold> reader = toRead("reader", jumping);
        HolderThread<Hold> another = toRead("another", jumping);
        HolderThread<Hold> writer = toWrite("writer", here);

        clock.readsLeft().set(read);
        first.release();

        assertThat(reader.awaitGrant().isHeld()).isTrue();
        // All are at rest.
        world.advance(Duration.ZERO);
        assertThat(world.holderOf("catalogue")).contains("jumping");
        assertThat(writer.isWaiting()).isTrue();
        boolean isBehind = another.isWaiting();
        reader.release();
        if (!isBehind) {
            another.release();
        }
        // A grant that was shared is kept for a moment.
        world.advance(TURN.multipliedBy(2));
        writer.release();
        if (isBehind) {
            another.release();
        }
    }

    static IntStream numbers() {
        return IntStream.rangeClosed(1, 40);
    }

    @Test
    @DisplayName("readers of other processes that come after a writer wait behind it, at once")
    void readersElsewhere() throws Exception {
        DistributedReadWriteLock elsewhere = world.client("carol").readWriteLock("catalogue");
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> writer = toWrite("writer", there);
        HolderThread<Hold> later = toRead("later", elsewhere);

        first.release();
        assertThat(writer.awaitGrant().isHeld()).isTrue();
        assertThat(later.isWaiting()).isTrue();
        writer.release();
        later.release();
    }

    @Test
    @DisplayName(
            "a process whose budget is spent lets no more readers in, but for those who read already, and gives way when these have left")
    void budget() throws Exception {
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> writer = toWrite("writer", there);
        HolderThread<Hold> second = reading("second", here);
        world.advance(BUDGET);
        // Whether somebody waits elsewhere is asked as a reader comes.
        HolderThread<Hold> third = reading("third", here);

        HolderThread<Hold> fourth = toRead("fourth", here);
        assertThat(second.actor().<Boolean>call(() -> here.readLock().tryLock()))
                .as("who reads may read again")
                .isTrue();
        second.actor().run(() -> here.readLock().unlock());
        first.release();
        second.release();
        assertThat(writer.isWaiting()).isTrue();
        third.release();

        assertThat(writer.awaitGrant().isHeld()).isTrue();
        assertThat(link.sent(Command.Yield.class)).hasSize(1);
        assertThat(fourth.isWaiting()).isTrue();
        assertThat(world.waitersOf("catalogue")).isEqualTo(1);
        writer.release();
        fourth.release();
    }

    @Test
    @DisplayName("a writer elsewhere waits for a budget and the last reader, however many readers come here")
    void endlessReadersElsewhere() throws Exception {
        Deque<Hold> readers = new ArrayDeque<>();
        readers.add(here.readLock().acquireAsync().toCompletableFuture().join());
        HolderThread<Hold> writer = toWrite("writer", there);
        Duration waited = Duration.ZERO;
        CompletableFuture<Hold> newest = here.readLock().acquireAsync().toCompletableFuture();
        world.time().settle();
        while (newest.isDone()) {
            readers.add(newest.join());
            readers.remove().close();
            world.advance(TURN);
            waited = waited.plus(TURN);
            newest = here.readLock().acquireAsync().toCompletableFuture();
            world.time().settle();
        }

        assertThat(waited).isBetween(BUDGET, BUDGET.plus(TURN));
        readers.remove().close();
        assertThat(writer.awaitGrant().isHeld()).isTrue();
        assertThat(newest).isNotDone();
        writer.release();
        newest.get(60, TimeUnit.SECONDS).close();
    }

    @Test
    @DisplayName("readers and writers of one process pass the lock on in memory for a budget, and then give way")
    @Tag("C8")
    void cohortOfBoth() throws Exception {
        Hold first = here.writeLock().acquireAsync().toCompletableFuture().join();
        Deque<CompletableFuture<Hold>> queue = new ArrayDeque<>();
        for (int i = 0; i < 100; i++) {
            DistributedLock side = i % 3 == 0 ? here.writeLock() : here.readLock();
            queue.add(side.acquireAsync().toCompletableFuture());
        }
        HolderThread<Hold> theirs = toWrite("theirs", there);
        link.forget();
        first.close();
        int passedOn = 0;
        while (theirs.isWaiting()) {
            world.time().settle();
            Hold hold = queue.remove().getNow(null);
            assertThat(hold).as("number %s is served", passedOn).isNotNull();
            world.advance(TURN);
            hold.close();
            passedOn++;
            assertThat(passedOn).isLessThanOrEqualTo(2 + (int) BUDGET.dividedBy(TURN));
            Eventually.holds("it is passed on", () -> {
                world.time().settle();
                return queue.element().isDone() || !theirs.isWaiting();
            });
        }

        assertThat(passedOn).isGreaterThanOrEqualTo((int) BUDGET.dividedBy(TURN));
        assertThat(link.sent(Command.Acquire.class)).isEmpty();
        theirs.release();
        for (CompletableFuture<Hold> rest : queue) {
            rest.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @DisplayName("writers and readers that wait here are served in their order, readers together")
    void orderHere() throws Exception {
        Hold first = here.writeLock().acquireAsync().toCompletableFuture().join();
        HolderThread<Hold> read1 = toRead("read 1", here);
        HolderThread<Hold> read2 = toRead("read 2", here);
        HolderThread<Hold> write3 = toWrite("write 3", here);
        HolderThread<Hold> read4 = toRead("read 4", here);
        HolderThread<Hold> write5 = toWrite("write 5", here);

        first.close();
        read1.awaitGrant();
        read2.awaitGrant();
        assertThat(write3.isWaiting() && read4.isWaiting() && write5.isWaiting())
                .isTrue();
        read2.release();
        read1.release();
        write3.awaitGrant();
        assertThat(read4.isWaiting() && write5.isWaiting()).isTrue();
        write3.release();
        read4.awaitGrant();
        assertThat(write5.isWaiting()).isTrue();
        read4.release();
        write5.release();
    }

    @Test
    @DisplayName("with a budget of zero a process gives way as soon as its readers have left")
    void strictTurns() throws Exception {
        DistributedReadWriteLock one =
                world.client(world.builder("one").cohortBudget(Duration.ZERO)).readWriteLock("strict");
        DistributedReadWriteLock two =
                world.client(world.builder("two").cohortBudget(Duration.ZERO)).readWriteLock("strict");
        HolderThread<Hold> first = reading("first", one);
        HolderThread<Hold> second = reading("second", one);
        HolderThread<Hold> writer = toWrite("writer", two);
        reading("third", one).release();
        HolderThread<Hold> fourth = toRead("fourth", one);

        first.release();
        second.release();

        writer.awaitGrant();
        assertThat(fourth.isWaiting()).isTrue();
        writer.release();
        fourth.release();
    }

    @Test
    @DisplayName(
            "with a budget of zero processes that all write take turns, and don't pass the lock on unused for ever")
    void strictTurnsOfWriters() throws Exception {
        DistributedReadWriteLock one =
                world.client(world.builder("one").cohortBudget(Duration.ZERO)).readWriteLock("strict");
        DistributedReadWriteLock two =
                world.client(world.builder("two").cohortBudget(Duration.ZERO)).readWriteLock("strict");
        DistributedReadWriteLock zero = world.client("zero").readWriteLock("strict");
        Hold first = zero.writeLock().acquireAsync().toCompletableFuture().join();
        HolderThread<Hold> second = toWrite("second", one);
        HolderThread<Hold> third = toWrite("third", two);

        first.close();

        second.release();
        third.release();
    }
}
