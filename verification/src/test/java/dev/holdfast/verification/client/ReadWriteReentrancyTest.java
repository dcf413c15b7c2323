package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.NotOwnerException;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A thread and both sides of a lock")
class ReadWriteReentrancyTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final DistributedReadWriteLock lock = world.client("alice", link).readWriteLock("catalogue");
    private final DistributedReadWriteLock there = world.client("bob").readWriteLock("catalogue");
    private final DistributedLock read = lock.readLock();
    private final DistributedLock write = lock.writeLock();

    private HolderThread<Hold> toRead(String name, DistributedReadWriteLock which) {
        return HolderThread.waiting(world, name, () -> which.readLock().acquire());
    }

    private HolderThread<Hold> toWrite(String name, DistributedReadWriteLock which) {
        return HolderThread.waiting(world, name, () -> which.writeLock().acquire());
    }

    /** How much the store has recorded as held: 0, 1 or all. */
    private int weightAtTheStore() {
        return world.recordOf("catalogue").map(ResourceInfo::holders).orElse(List.of()).stream()
                .mapToInt(ResourceInfo.Party::weight)
                .sum();
    }

    @Nested
    @DisplayName("that writes and reads on")
    class Downgrade {

        @ParameterizedTest(name = "with a handle: {0}")
        @ValueSource(booleans = {true, false})
        @DisplayName("lets readers in, and keeps every writer out, here and there")
        @Tag("D4")
        void noWriterInBetween(boolean withHandles) throws Exception {
            Hold written = withHandles ? write.acquire() : null;
            if (!withHandles) {
                write.lock();
            }
            HolderThread<Hold> writerHere = toWrite("writer here", lock);
            HolderThread<Hold> writerThere = toWrite("writer there", there);
            HolderThread<Hold> readerHere = toRead("reader here", lock);
            read.lock();
            if (written != null) {
                written.close();
            } else {
                write.unlock();
            }

            world.advance(Duration.ofSeconds(1));
            assertThat(writerHere.isWaiting()).isTrue();
            assertThat(writerThere.isWaiting()).isTrue();
            assertThat(read.isHeldByCurrentThread()).isTrue();
            assertThat(write.isHeldByCurrentThread()).isFalse();

            read.unlock();
            writerThere.release();
            writerHere.release();
            readerHere.release();
        }

        @Test
        @DisplayName("keeps the read lock when the handle of a write lock is closed that was released without it")
        @Tag("D4")
        void handleOfReleasedWrite() throws Exception {
            Hold written = write.acquire();
            read.lock();
            write.unlock();

            assertThatThrownBy(written::close).isInstanceOf(NotOwnerException.class);

            assertThat(read.isHeldByCurrentThread()).isTrue();
            assertThat(there.writeLock().tryLock()).isFalse();
            read.unlock();
        }

        @Test
        @DisplayName("lets waiting readers of both processes in at once, where no writer waits before them")
        @Tag("D4")
        void readersComeIn() throws Exception {
            write.lock();
            HolderThread<Hold> readerThere = toRead("reader there", there);
            read.lock();
            write.unlock();

            assertThat(readerThere.awaitGrant().isHeld()).isTrue();
            HolderThread<Hold> readerHere = HolderThread.holding(world, "reader here", read::acquire);
            assertThat(link.sent(Command.Acquire.class)).hasSize(1);
            read.unlock();
            readerHere.release();
            readerThere.release();
        }

        @Test
        @DisplayName("keeps the writer's token, also on the handle that is left")
        @Tag("D7")
        void keepsTheToken() throws Exception {
            Hold written = write.acquire();
            long token = written.fencingToken();
            Hold reading = read.acquire();
            written.close();

            assertThat(reading.fencingToken()).isEqualTo(token);
            assertThat(reading.isHeld()).isTrue();
            assertThatThrownBy(written::fencingToken).isInstanceOf(IllegalStateException.class);
            reading.close();
            try (Hold next = write.acquire()) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }

        @Test
        @DisplayName("works for a hold with a bound too, whose end it keeps")
        @Tag("D4")
        void bounded() throws Exception {
            Hold written = write.acquire(AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(20)));
            Hold reading = read.acquire();
            written.close();

            HolderThread<Hold> readerThere = HolderThread.holding(
                    world, "reader there", () -> there.readLock().acquire());
            HolderThread<Hold> readerHere = HolderThread.holding(world, "reader here", read::acquire);
            world.advance(Duration.ofSeconds(20));
            assertThat(reading.isHeld()).isFalse();
            assertThat(readerHere.awaitGrant().isHeld()).isTrue();
            readerHere.release();
            readerThere.release();
            assertThat(reading.releaseAsync().toCompletableFuture().join()).isEqualTo(ReleaseOutcome.LOST);
        }
    }

    @Nested
    @DisplayName("that reads and would write")
    class Upgrade {

        @Test
        @DisplayName("is refused at once by every form, and nothing changes: not even the store is asked")
        @Tag("D5")
        void refusedAtOnce() throws Exception {
            Hold reading = read.acquire();
            link.forget();

            assertThatThrownBy(write::lock)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("catalogue");
            assertThatThrownBy(write::lockInterruptibly).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(write::tryLock).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> write.tryLock(1, TimeUnit.DAYS)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> write.acquire()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> write.acquire(Duration.ofDays(1))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> write.acquire(AcquireOptions.defaults()))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(write::tryAcquire).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> write.callWhileHeld(hold -> true)).isInstanceOf(IllegalStateException.class);

            assertThat(link.sent()).isEmpty();
            assertThat(reading.isHeld()).isTrue();
            assertThat(read.holdCount()).isEqualTo(1);
            assertThat(write.holdCount()).isZero();
            assertThat(write.isHeldByCurrentThread()).isFalse();
            reading.close();
            write.lock();
            write.unlock();
        }

        @Test
        @DisplayName("is refused too after it has downgraded")
        @Tag("D5")
        void afterDowngrade() {
            write.lock();
            read.lock();
            write.unlock();

            assertThatThrownBy(write::lock).isInstanceOf(IllegalStateException.class);

            read.unlock();
        }

        @Test
        @DisplayName("but who writes already may write again, whatever it reads besides")
        @Tag("D6")
        void whoWritesAlready() {
            write.lock();
            read.lock();
            write.lock();

            assertThat(write.holdCount()).isEqualTo(2);
            assertThat(read.holdCount()).isEqualTo(1);
            write.unlock();
            assertThat(weightAtTheStore()).isEqualTo(Integer.MAX_VALUE);
            write.unlock();
            assertThat(weightAtTheStore()).isEqualTo(1);
            read.unlock();
        }

        @Test
        @DisplayName("a stage is somebody else: it waits for its caller's own hold")
        void stageWaits() throws Exception {
            read.lock();
            var writing = write.acquireAsync().toCompletableFuture();
            world.time().settle();
            assertThat(writing).isNotDone();

            read.unlock();

            writing.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    @DisplayName("a reader may read again although a writer waits, here or there")
    @Tag("D6")
    void readAgain() throws Exception {
        read.lock();
        HolderThread<Hold> writerHere = toWrite("writer here", lock);
        HolderThread<Hold> writerThere = toWrite("writer there", there);
        world.advance(Duration.ofSeconds(1));
        link.forget();

        assertThat(read.tryLock()).isTrue();
        Hold again = read.acquire();

        assertThat(link.sent()).isEmpty();
        assertThat(read.holdCount()).isEqualTo(3);
        again.close();
        read.unlock();
        assertThat(writerHere.isWaiting() && writerThere.isWaiting()).isTrue();
        read.unlock();
        writerThere.release();
        writerHere.release();
    }

    @Test
    @DisplayName("releasing a side that the thread does not hold is an error, and changes nothing")
    @Tag("D6")
    @Tag("C6")
    void notOwner() throws Exception {
        assertThatThrownBy(read::unlock).isInstanceOf(NotOwnerException.class);
        assertThatThrownBy(write::unlock).isInstanceOf(IllegalMonitorStateException.class);
        read.lock();
        assertThatThrownBy(write::unlock).isInstanceOf(NotOwnerException.class);
        assertThat(read.holdCount()).isEqualTo(1);
        HolderThread<Hold> other = HolderThread.holding(world, "other", read::acquire);
        Hold others = other.awaitGrant();
        assertThatThrownBy(others::close).isInstanceOf(NotOwnerException.class);
        assertThat(others.isHeld()).isTrue();
        other.release();
        read.unlock();
        assertThatThrownBy(read::unlock).isInstanceOf(NotOwnerException.class);

        write.lock();
        assertThatThrownBy(read::unlock).isInstanceOf(NotOwnerException.class);
        assertThat(write.holdCount()).isEqualTo(1);
        assertThat(write.isHeldByCurrentThread()).isTrue();
        world.actor("stranger").run(() -> assertThatThrownBy(write::unlock).isInstanceOf(NotOwnerException.class));
        write.unlock();
        assertThat(weightAtTheStore()).isZero();
    }

    @Test
    @DisplayName("a nested acquisition never changes the lease of the outer one")
    @Tag("D6")
    void nestedLease() {
        AcquireOptions bounded = AcquireOptions.defaults().withMaxHold(Duration.ofSeconds(1));
        write.lock();
        assertThatThrownBy(() -> read.acquire(bounded)).isInstanceOf(IllegalStateException.class);
        assertThat(read.holdCount()).isZero();
        write.unlock();
    }

    /** What a thread has done with a lock, and what must then be true. */
    private final class Run {
        private final SplittableRandom random;
        private final List<Hold> writing = new ArrayList<>();
        private final List<Hold> reading = new ArrayList<>();

        /** Acquired for the thread, without a handle. */
        private int writeLocks;

        private int readLocks;
        private long token;

        Run(long seed) {
            random = new SplittableRandom(seed);
        }

        private int writes() {
            return writing.size() + writeLocks;
        }

        private int reads() {
            return reading.size() + readLocks;
        }

        void step() throws InterruptedException {
            switch (random.nextInt(8)) {
                case 0, 1 -> read();
                case 2 -> write();
                case 3 -> closeOne(reading);
                case 4 -> closeOne(writing);
                case 5 -> readLocks = unlock(read, readLocks);
                default -> writeLocks = unlock(write, writeLocks);
            }
        }

        private void read() throws InterruptedException {
            boolean isFirst = reads() + writes() == 0;
            if (random.nextBoolean()) {
                Hold hold = read.acquire();
                reading.add(hold);
                token = isFirst ? hold.fencingToken() : token;
                assertThat(hold.fencingToken()).isEqualTo(token);
            } else if (!isFirst) {
                read.lock();
                readLocks++;
            }
        }

        private void write() throws InterruptedException {
            if (writes() == 0 && reads() > 0) {
                assertThatThrownBy(write::acquire).isInstanceOf(IllegalStateException.class);
                return;
            }
            boolean isFirst = writes() == 0;
            Hold hold = write.acquire();
            writing.add(hold);
            token = isFirst ? hold.fencingToken() : token;
            assertThat(hold.fencingToken()).isEqualTo(token);
            if (random.nextBoolean()) {
                assertThat(write.tryLock()).isTrue();
                writeLocks++;
            }
        }

        private void closeOne(List<Hold> handles) {
            if (!handles.isEmpty()) {
                Hold hold = handles.remove(random.nextInt(handles.size()));
                hold.close();
                hold.close();
                assertThat(hold.isHeld()).isFalse();
            }
        }

        private int unlock(DistributedLock side, int times) {
            if (times > 0) {
                side.unlock();
                return times - 1;
            }
            return 0;
        }

        void check() {
            assertThat(read.holdCount()).isEqualTo(reads());
            assertThat(write.holdCount()).isEqualTo(writes());
            assertThat(read.isHeldByCurrentThread()).isEqualTo(reads() > 0);
            assertThat(write.isHeldByCurrentThread()).isEqualTo(writes() > 0);
            assertThat(reading).allMatch(Hold::isHeld);
            assertThat(writing).allMatch(Hold::isHeld);
            assertThat(weightAtTheStore()).isEqualTo(writes() > 0 ? Integer.MAX_VALUE : Math.min(1, reads()));
        }

        void end() {
            while (reads() + writes() > 0) {
                closeOne(reading);
                closeOne(writing);
                readLocks = unlock(read, readLocks);
                writeLocks = unlock(write, writeLocks);
                check();
            }
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    @DisplayName(
            "handles and calls of both sides, nested and released in any order, hold exactly as long as one is open")
    @Tag("D6")
    void anyOrder(long seed) throws Exception {
        Run run = new Run(seed);
        for (int i = 0; i < 1_000; i++) {
            run.step();
            run.check();
        }
        run.end();
        assertThatThrownBy(read::unlock).isInstanceOf(NotOwnerException.class);
        assertThatThrownBy(write::unlock).isInstanceOf(NotOwnerException.class);
    }

    @Test
    @DisplayName(
            "a writer's token is above all before it; a reader has the highest that was handed out before it under its grant")
    @Tag("D7")
    void tokens() throws Exception {
        Hold written = write.acquire();
        HolderThread<Hold> reader = toRead("reader", lock);
        HolderThread<Hold> writer = toWrite("writer", lock);
        long first = written.fencingToken();
        written.close();
        assertThat(reader.awaitGrant().fencingToken()).isEqualTo(first);
        reader.release();
        long second = writer.awaitGrant().fencingToken();
        assertThat(second).isGreaterThan(first);
        HolderThread<Hold> later = toRead("later", lock);
        writer.release();
        assertThat(later.awaitGrant().fencingToken()).isEqualTo(second);
        later.release();
        world.advance(Duration.ofSeconds(1));

        long third;
        try (Hold elsewhere = there.readLock().acquire()) {
            third = elsewhere.fencingToken();
        }
        Hold one = read.acquire();
        HolderThread<Hold> other = HolderThread.holding(world, "other", read::acquire);
        assertThat(other.awaitGrant().fencingToken()).isEqualTo(one.fencingToken());
        assertThat(one.fencingToken()).isGreaterThan(second);
        other.release();
        long fourth = one.fencingToken();
        one.close();
        world.advance(Duration.ofSeconds(1));
        try (Hold last = there.writeLock().acquire()) {
            assertThat(last.fencingToken()).isGreaterThan(Math.max(third, fourth));
        }
    }
}
