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
import dev.holdfast.verification.world.Asker;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.Line;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Readers stand beside each other")
class ReadWriteSharingTest {

    private static final AcquireOptions BOUNDED = AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(1));

    private final World world = World.still();
    private final Line line = world.line();
    private final Holdfast alice = world.client("alice", line);
    private final DistributedReadWriteLock here = alice.readWriteLock("catalogue");
    private final DistributedReadWriteLock there = world.client("bob").readWriteLock("catalogue");

    @AfterEach
    void close() {
        world.close();
    }

    private Asker<Hold> reading(String name, DistributedReadWriteLock lock) throws Exception {
        return Asker.holding(world, name, () -> lock.readLock().acquire());
    }

    private Asker<Hold> toRead(String name, DistributedReadWriteLock lock) {
        return Asker.waiting(world, name, () -> lock.readLock().acquire());
    }

    private Asker<Hold> toWrite(String name, DistributedReadWriteLock lock) {
        return Asker.waiting(world, name, () -> lock.writeLock().acquire());
    }

    private List<ResourceInfo.Party> holders() {
        return world.recordOf("catalogue").map(ResourceInfo::holders).orElse(List.of());
    }

    @Test
    @DisplayName("those of one process share one claim at the store, those of several have one each")
    @Tag("D1")
    @Tag("D2")
    void oneClaimPerProcess() throws Exception {
        List<Asker<Hold>> readers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            readers.add(reading("here-" + i, here));
        }
        assertThat(line.sent(Command.Acquire.class)).hasSize(1);
        for (int i = 0; i < 10; i++) {
            readers.add(reading("there-" + i, there));
        }

        assertThat(holders()).hasSize(2);
        for (Asker<Hold> reader : readers) {
            assertThat(reader.isGranted().isHeld()).isTrue();
            reader.releases();
        }
    }

    @Test
    @DisplayName("a writer is alone: it waits for all readers, here and there, and they wait for it")
    @Tag("D1")
    void writerIsAlone() throws Exception {
        Asker<Hold> first = reading("first", here);
        Asker<Hold> second = reading("second", here);
        Asker<Hold> third = reading("third", there);
        Asker<Hold> writer = toWrite("writer", here);

        first.releases();
        second.releases();
        assertThat(writer.isWaiting()).isTrue();
        third.releases();
        assertThat(writer.isGranted().isHeld()).isTrue();
        Asker<Hold> fourth = toRead("fourth", here);
        Asker<Hold> fifth = toRead("fifth", there);
        Asker<Hold> sixth = toWrite("sixth", there);
        assertThat(fourth.isWaiting() && fifth.isWaiting() && sixth.isWaiting()).isTrue();

        writer.releases();
        fourth.isGranted();
        fourth.releases();
        world.passes(Duration.ofSeconds(1));
        fifth.releases();
        sixth.releases();
    }

    @Test
    @DisplayName("who reads for a bounded time has a claim of its own, and stands beside the others all the same")
    @Tag("D2")
    void boundedBesideShared() throws Exception {
        Asker<Hold> shared = reading("shared", here);
        Asker<Hold> bounded =
                Asker.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));
        Asker<Hold> later = reading("later", here);

        assertThat(holders()).hasSize(2);
        Asker<Hold> writer = toWrite("writer", here);
        shared.releases();
        later.releases();
        assertThat(writer.isWaiting()).isTrue();
        bounded.releases();
        writer.releases();
    }

    @Test
    @DisplayName("so do those who come after one that reads for a bounded time")
    @Tag("D2")
    void sharedBesideBounded() throws Exception {
        Asker<Hold> bounded =
                Asker.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));
        Asker<Hold> tried =
                Asker.holding(world, "tried", () -> here.readLock().tryAcquire().orElseThrow());
        Asker<Hold> shared = reading("shared", here);
        Asker<Hold> triedBounded = Asker.holding(
                world,
                "tried bounded",
                () -> here.readLock()
                        .tryAcquire(BOUNDED.withMaxWait(Duration.ZERO))
                        .orElseThrow());

        bounded.releases();
        tried.releases();
        assertThat(shared.isGranted().isHeld()).isTrue();
        shared.releases();
        triedBounded.releases();
    }

    @Test
    @DisplayName("a bounded read ends when its time is over, and the others read on")
    @Tag("D2")
    void boundedReadEnds() throws Exception {
        Asker<Hold> shared = reading("shared", here);
        Asker<Hold> bounded =
                Asker.holding(world, "bounded", () -> here.readLock().acquire(BOUNDED));

        world.passes(Duration.ofMinutes(1));

        assertThat(bounded.isGranted().isHeld()).isFalse();
        assertThat(shared.isGranted().isHeld()).isTrue();
        shared.releases();
        assertThatThrownBy(bounded::releases).isInstanceOf(dev.holdfast.LockLostException.class);
    }

    @Test
    @DisplayName(
            "readers that come and go ask the store once, and what is kept for the next of them goes back by itself")
    @Tag("D2")
    void keptForTheNext() throws Exception {
        Asker<Hold> first = reading("first", here);
        Asker<Hold> second = reading("second", here);
        first.releases();
        second.releases();
        for (int i = 0; i < 100; i++) {
            here.readLock().lock();
            here.readLock().unlock();
        }
        assertThat(line.sent(Command.Acquire.class)).hasSize(1);
        assertThat(line.sent(Command.Release.class)).isEmpty();

        world.passes(Duration.ofMillis(5));

        assertThat(line.sent(Command.Release.class)).hasSize(1);
        assertThat(holders()).isEmpty();
    }

    @Test
    @DisplayName(
            "one who tries at once gets the write side as soon as nobody reads, though the grant is kept for readers")
    @Tag("D9")
    void tryWriteWhileTheGrantIsKept() throws Exception {
        Asker<Hold> first = reading("first", here);
        Asker<Hold> second = reading("second", here);
        assertThat(here.writeLock().tryLock()).isFalse();
        first.releases();
        second.releases();
        assertThat(line.sent(Command.Release.class)).isEmpty();

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
        Asker<Hold> tried =
                Asker.holding(world, "tried", () -> here.readLock().tryAcquire().orElseThrow());
        Asker<Hold> again =
                Asker.holding(world, "again", () -> here.readLock().tryAcquire().orElseThrow());
        Asker<Hold> reader = reading("reader", here);

        assertThat(line.sent(Command.Acquire.class)).hasSize(1);
        assertThat(holders()).hasSize(1);
        tried.releases();
        again.releases();
        assertThat(reader.isGranted().isHeld()).isTrue();
        reader.releases();
    }

    @Test
    @DisplayName("two that try to read at the same moment both may, though the store has not answered the first yet")
    @Tag("D9")
    void triesAtTheSameMoment() throws Exception {
        Line.HeldUp asking = line.holdsUpNext(Command.Acquire.class);
        Actor first = world.actor("first");
        Actor second = world.actor("second");
        Actor.Doing<Hold> one = first.starts(() -> here.readLock().tryAcquire().orElseThrow());
        asking.hasCome();
        Actor.Doing<Hold> other =
                second.waitsFor(() -> here.readLock().tryAcquire().orElseThrow());

        asking.goesOn();

        assertThat(one.result().isHeld()).isTrue();
        assertThat(other.result().isHeld()).isTrue();
        first.performs(one.result()::close);
        second.performs(other.result()::close);
    }

    @Test
    @DisplayName("of those who tried behind one that has to wait, none waits")
    @Tag("D9")
    void triesDoNotWait() throws Exception {
        there.writeLock().lock();
        Line.HeldUp asking = line.holdsUpNext(Command.Acquire.class);
        Asker<Hold> writer = toWrite("writer", here);
        var tried = world.actor("tried").starts(() -> here.readLock().tryAcquire());
        asking.goesOn();

        assertThat(tried.result()).isEmpty();

        assertThat(writer.isWaiting()).isTrue();
        there.writeLock().unlock();
        writer.releases();
    }

    @Test
    @DisplayName("readers that share what a writer left do not keep those of other processes out for long")
    @Tag("D1")
    void readersUnderAWriteGrant() throws Exception {
        here.writeLock().lock();
        Asker<Hold> reader = toRead("reader", here);
        here.writeLock().unlock();
        reader.isGranted();
        Asker<Hold> theirs = toRead("theirs", there);

        world.passes(Duration.ofMillis(100));

        assertThat(theirs.isGranted().isHeld()).isTrue();
        assertThat(reader.isGranted().isHeld()).isTrue();
        theirs.releases();
        reader.releases();
    }

    @Test
    @DisplayName("nor while a writer of their own process waits behind them")
    @Tag("D1")
    void readersUnderAWriteGrantBeforeAWriter() throws Exception {
        here.writeLock().lock();
        Asker<Hold> reader = toRead("reader", here);
        Asker<Hold> writer = toWrite("writer", here);
        here.writeLock().unlock();
        reader.isGranted();
        Asker<Hold> theirs = toRead("theirs", there);

        world.passes(Duration.ofMillis(100));

        assertThat(theirs.isGranted().isHeld()).isTrue();
        assertThat(writer.isWaiting()).isTrue();
        reader.releases();
        theirs.releases();
        writer.releases();
    }

    @Test
    @DisplayName("a writer that gives up waiting does not leave the readers behind it waiting as writers do")
    @Tag("D10")
    void readersBehindAWriterThatGaveUp() throws Exception {
        Asker<Hold> theirs = reading("theirs", there);
        var writer = world.actor("writer").waitsFor(() -> here.writeLock().tryLock(1, TimeUnit.SECONDS));
        Asker<Hold> reader = toRead("reader", here);

        world.passes(Duration.ofSeconds(1));

        assertThat(writer.result()).isFalse();
        assertThat(reader.isGranted().isHeld()).isTrue();
        assertThat(theirs.isGranted().isHeld()).isTrue();
        reader.releases();
        theirs.releases();
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
        Asker<Hold> first = reading("first", one);
        Asker<Hold> writer = toWrite("writer", two);

        Asker<Hold> second = reading("second", three);

        assertThat(writer.isWaiting()).isTrue();
        first.releases();
        assertThat(writer.isWaiting()).isTrue();
        second.releases();
        Hold written = writer.isGranted();
        assertThat(one.readLock().tryLock()).isFalse();
        assertThat(written.isHeld()).isTrue();
        writer.releases();
    }

    @Test
    @DisplayName("holds of stages read beside each other, and are closed by anybody")
    @Tag("D1")
    void stages() throws Exception {
        Hold first = here.readLock().acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        Hold second = here.readLock().acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        var writing = here.writeLock().acquireAsync().toCompletableFuture();
        assertThat(line.sent(Command.Acquire.class)).hasSize(1);
        assertThat(here.readLock().holdCount()).isZero();

        world.actor("anybody").performs(first::close);
        assertThat(writing).isNotDone();
        second.close();

        Hold written = writing.get(60, TimeUnit.SECONDS);
        Eventually.holds("the writer holds", written::isHeld);
        ClaimRef claim = holders().get(0).claim();
        assertThat(claim.resource().value()).isEqualTo("catalogue");
        written.close();
    }
}
