package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockOptions;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Readers stand beside each other")
class ReadWriteSharingTest {

    private static final AcquireOptions BOUNDED = AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(1));

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final DistributedReadWriteLock here = alice.readWriteLock("catalogue");
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

    private List<ResourceInfo.Party> holders() {
        return world.recordOf("catalogue").map(ResourceInfo::holders).orElse(List.of());
    }

    @Test
    @DisplayName("those of one process share one claim at the store, those of several have one each")
    @Tag("D1")
    @Tag("D2")
    void oneClaimPerProcess() throws Exception {
        List<HolderThread<Hold>> readers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            readers.add(reading("here-" + i, here));
        }
        assertThat(link.sent(Command.Acquire.class)).hasSize(1);
        for (int i = 0; i < 10; i++) {
            readers.add(reading("there-" + i, there));
        }

        assertThat(holders()).hasSize(2);
        for (HolderThread<Hold> reader : readers) {
            assertThat(reader.awaitGrant().isHeld()).isTrue();
            reader.release();
        }
    }

    @Test
    @DisplayName("a writer is alone: it waits for all readers, here and there, and they wait for it")
    @Tag("D1")
    void writerIsAlone() throws Exception {
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> second = reading("second", here);
        HolderThread<Hold> third = reading("third", there);
        HolderThread<Hold> writer = toWrite("writer", here);

        first.release();
        second.release();
        assertThat(writer.isWaiting()).isTrue();
        third.release();
        assertThat(writer.awaitGrant().isHeld()).isTrue();
        HolderThread<Hold> fourth = toRead("fourth", here);
        HolderThread<Hold> fifth = toRead("fifth", there);
        HolderThread<Hold> sixth = toWrite("sixth", there);
        assertThat(fourth.isWaiting() && fifth.isWaiting() && sixth.isWaiting()).isTrue();

        writer.release();
        fourth.awaitGrant();
        fourth.release();
        world.advance(Duration.ofSeconds(1));
        fifth.release();
        sixth.release();
    }

    @Test
    @DisplayName("who reads for a bounded time has a claim of its own, and stands beside the others all the same")
    @Tag("D2")
    void boundedBesideShared() throws Exception {
        HolderThread<Hold> shared = reading("shared", here);
        HolderThread<Hold> bounded =
                HolderThread.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));
        HolderThread<Hold> later = reading("later", here);

        assertThat(holders()).hasSize(2);
        HolderThread<Hold> writer = toWrite("writer", here);
        shared.release();
        later.release();
        assertThat(writer.isWaiting()).isTrue();
        bounded.release();
        writer.release();
    }

    @Test
    @DisplayName("so do those who come after one that reads for a bounded time")
    @Tag("D2")
    void sharedBesideBounded() throws Exception {
        HolderThread<Hold> bounded =
                HolderThread.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));
        HolderThread<Hold> tried = HolderThread.holding(
                world, "tried", () -> here.readLock().tryAcquire().orElseThrow());
        HolderThread<Hold> shared = reading("shared", here);
        HolderThread<Hold> triedBounded = HolderThread.holding(
                world,
                "tried bounded",
                () -> here.readLock()
                        .tryAcquire(BOUNDED.withMaxWait(Duration.ZERO))
                        .orElseThrow());

        bounded.release();
        tried.release();
        assertThat(shared.awaitGrant().isHeld()).isTrue();
        shared.release();
        triedBounded.release();
    }

    @Test
    @DisplayName("a bounded read ends when its time is over, and the others read on")
    @Tag("D2")
    void boundedReadEnds() throws Exception {
        HolderThread<Hold> shared = reading("shared", here);
        HolderThread<Hold> bounded =
                HolderThread.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));

        world.advance(Duration.ofMinutes(1));

        assertThat(bounded.awaitGrant().isHeld()).isFalse();
        assertThat(shared.awaitGrant().isHeld()).isTrue();
        shared.release();
        assertThatThrownBy(bounded::release).isInstanceOf(dev.holdfast.LockLostException.class);
    }

    @Test
    @DisplayName(
            "readers that come and go ask the store once, and what is kept for the next of them goes back by itself")
    @Tag("D2")
    void keptForTheNext() throws Exception {
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> second = reading("second", here);
        first.release();
        second.release();
        for (int i = 0; i < 100; i++) {
            here.readLock().lock();
            here.readLock().unlock();
        }
        assertThat(link.sent(Command.Acquire.class)).hasSize(1);
        assertThat(link.sent(Command.Release.class)).isEmpty();

        world.advance(Duration.ofMillis(5));

        assertThat(link.sent(Command.Release.class)).hasSize(1);
        assertThat(holders()).isEmpty();
    }

    @Test
    @DisplayName(
            "one who tries at once gets the write side as soon as nobody reads, though the grant is kept for readers")
    @Tag("D9")
    void tryWriteWhileTheGrantIsKept() throws Exception {
        HolderThread<Hold> first = reading("first", here);
        HolderThread<Hold> second = reading("second", here);
        assertThat(here.writeLock().tryLock()).isFalse();
        first.release();
        second.release();
        assertThat(link.sent(Command.Release.class)).isEmpty();

        assertThat(here.writeLock().tryLock()).isTrue();

        assertThat(there.readLock().tryLock()).isFalse();
        here.writeLock().unlock();
        assertThat(there.writeLock().tryLock()).isTrue();
        there.writeLock().unlock();
    }

    @Test
    @DisplayName("a read side that was tried is shared as any other")
    @Tag("D2")
    void triedIsShared() throws Exception {
        HolderThread<Hold> tried = HolderThread.holding(
                world, "tried", () -> here.readLock().tryAcquire().orElseThrow());
        HolderThread<Hold> again = HolderThread.holding(
                world, "again", () -> here.readLock().tryAcquire().orElseThrow());
        HolderThread<Hold> reader = reading("reader", here);

        assertThat(link.sent(Command.Acquire.class)).hasSize(1);
        assertThat(holders()).hasSize(1);
        tried.release();
        again.release();
        assertThat(reader.awaitGrant().isHeld()).isTrue();
        reader.release();
    }

    @Test
    @DisplayName("two that try to read at the same moment both may, though the store has not answered the first yet")
    @Tag("D9")
    void triesAtTheSameMoment() throws Exception {
        FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
        Actor first = world.actor("first");
        Actor second = world.actor("second");
        Actor.Doing<Hold> one = first.start(() -> here.readLock().tryAcquire().orElseThrow());
        asking.awaitCommand();
        Actor.Doing<Hold> other =
                second.startWaiting(() -> here.readLock().tryAcquire().orElseThrow());

        asking.proceed();

        assertThat(one.result().isHeld()).isTrue();
        assertThat(other.result().isHeld()).isTrue();
        first.run(one.result()::close);
        second.run(other.result()::close);
    }

    @Test
    @DisplayName("of those who tried behind one that has to wait, none waits")
    @Tag("D9")
    void triesDoNotWait() throws Exception {
        there.writeLock().lock();
        FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
        HolderThread<Hold> writer = toWrite("writer", here);
        var tried = world.actor("tried").start(() -> here.readLock().tryAcquire());
        asking.proceed();

        assertThat(tried.result()).isEmpty();

        assertThat(writer.isWaiting()).isTrue();
        there.writeLock().unlock();
        writer.release();
    }

    @Test
    @DisplayName("readers that share what a writer left do not keep those of other processes out for long")
    @Tag("D1")
    void readersUnderAWriteGrant() throws Exception {
        here.writeLock().lock();
        HolderThread<Hold> reader = toRead("reader", here);
        here.writeLock().unlock();
        reader.awaitGrant();
        HolderThread<Hold> theirs = toRead("theirs", there);

        world.advance(Duration.ofMillis(100));

        assertThat(theirs.awaitGrant().isHeld()).isTrue();
        assertThat(reader.awaitGrant().isHeld()).isTrue();
        theirs.release();
        reader.release();
    }

    @Test
    @DisplayName("nor while a writer of their own process waits behind them")
    @Tag("D1")
    void readersUnderAWriteGrantBeforeAWriter() throws Exception {
        here.writeLock().lock();
        HolderThread<Hold> reader = toRead("reader", here);
        HolderThread<Hold> writer = toWrite("writer", here);
        here.writeLock().unlock();
        reader.awaitGrant();
        HolderThread<Hold> theirs = toRead("theirs", there);

        world.advance(Duration.ofMillis(100));

        assertThat(theirs.awaitGrant().isHeld()).isTrue();
        assertThat(writer.isWaiting()).isTrue();
        reader.release();
        theirs.release();
        writer.release();
    }

    @Test
    @DisplayName("a writer that gives up waiting does not leave the readers behind it waiting as writers do")
    @Tag("D10")
    void readersBehindAWriterThatGaveUp() throws Exception {
        HolderThread<Hold> theirs = reading("theirs", there);
        var writer = world.actor("writer").startWaiting(() -> here.writeLock().tryLock(1, TimeUnit.SECONDS));
        HolderThread<Hold> reader = toRead("reader", here);

        world.advance(Duration.ofSeconds(1));

        assertThat(writer.result()).isFalse();
        assertThat(reader.awaitGrant().isHeld()).isTrue();
        assertThat(theirs.awaitGrant().isHeld()).isTrue();
        reader.release();
        theirs.release();
    }

    @Test
    @DisplayName(
            "a name is a read-write lock or a mutex, fair or barging: who thinks otherwise is told, here and there")
    void kindMismatch() throws Exception {
        here.readLock().lock();
        Holdfast bob = world.client("carol");

        assertThatThrownBy(() -> alice.lock("catalogue").lock()).isInstanceOf(LockMismatchException.class);
        assertThatThrownBy(() -> alice.readWriteLock("catalogue", LockOptions.barging())
                        .readLock()
                        .tryLock())
                .isInstanceOf(LockMismatchException.class)
                .hasMessageContaining("catalogue");
        assertThatThrownBy(() -> bob.lock("catalogue").lock()).isInstanceOf(LockMismatchException.class);
        assertThatThrownBy(() -> bob.semaphore("catalogue", 1).acquire()).isInstanceOf(LockMismatchException.class);
        assertThatThrownBy(() -> bob.readWriteLock("catalogue", LockOptions.barging())
                        .writeLock()
                        .lock())
                .isInstanceOf(LockMismatchException.class);

        assertThat(here.readLock().holdCount()).isEqualTo(1);
        here.readLock().unlock();
        bob.lock("catalogue").lock();
        bob.lock("catalogue").unlock();
    }

    @Test
    @DisplayName("on a barging lock readers may go past a writer of another process; still nobody meets it")
    @Tag("D1")
    void barging() throws Exception {
        DistributedReadWriteLock one = world.client("one").readWriteLock("board", LockOptions.barging());
        DistributedReadWriteLock two = world.client("two").readWriteLock("board", LockOptions.barging());
        DistributedReadWriteLock three = world.client("three").readWriteLock("board", LockOptions.barging());
        HolderThread<Hold> first = reading("first", one);
        HolderThread<Hold> writer = toWrite("writer", two);

        HolderThread<Hold> second = reading("second", three);

        assertThat(writer.isWaiting()).isTrue();
        first.release();
        assertThat(writer.isWaiting()).isTrue();
        second.release();
        Hold written = writer.awaitGrant();
        assertThat(one.readLock().tryLock()).isFalse();
        assertThat(written.isHeld()).isTrue();
        writer.release();
    }

    @Test
    @DisplayName("holds of stages read beside each other, and are closed by anybody")
    @Tag("D1")
    void stages() throws Exception {
        Hold first = here.readLock().acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        Hold second = here.readLock().acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        var writing = here.writeLock().acquireAsync().toCompletableFuture();
        assertThat(link.sent(Command.Acquire.class)).hasSize(1);
        assertThat(here.readLock().holdCount()).isZero();

        world.actor("anybody").run(first::close);
        assertThat(writing).isNotDone();
        second.close();

        Hold written = writing.get(60, TimeUnit.SECONDS);
        Eventually.holds("the writer holds", written::isHeld);
        ClaimRef claim = holders().get(0).claim();
        assertThat(claim.resource().value()).isEqualTo("catalogue");
        written.close();
    }
}
