package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("How reading and waiting end")
class ReadWriteEndingTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final DistributedReadWriteLock here = alice.readWriteLock("catalogue");
    private final DistributedReadWriteLock there = world.client("bob").readWriteLock("catalogue");
    private final Queue<String> told = new ConcurrentLinkedQueue<>();

    private HolderThread<Hold> reading(String name) throws Exception {
        return HolderThread.holding(world, name, () -> {
            Hold hold = here.readLock().acquire();
            hold.onLost(loss -> told.add(name + " " + loss.cause()));
            return hold;
        });
    }

    private HolderThread<Hold> toWrite(String name, DistributedReadWriteLock lock) {
        return HolderThread.waiting(world, name, () -> lock.writeLock().acquire());
    }

    private boolean isRecorded() {
        return world.recordOf("catalogue").map(ResourceInfo::holders).stream().anyMatch(holders -> !holders.isEmpty());
    }

    @Nested
    @DisplayName("by loss")
    @Tag("D8")
    class Lost {

        @Test
        @DisplayName("which every reader is told once; the grant goes back when the last of them has let go")
        @Tag("C2")
        void everyReaderIsTold() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            HolderThread<Hold> third = reading("third");
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(27));

            assertThat(told).containsExactlyInAnyOrder("first EXPIRED", "second EXPIRED", "third EXPIRED");
            assertThat(first.awaitGrant().isHeld()).isFalse();
            assertThat(second.awaitGrant().isHeld()).isFalse();
            link.forget();
            assertThatThrownBy(first::release).isInstanceOf(LockLostException.class);
            assertThatThrownBy(third::release).isInstanceOf(LockLostException.class);
            assertThat(link.sent(Command.Release.class)).isEmpty();
            assertThat(isRecorded()).isTrue();

            assertThatThrownBy(second::release).isInstanceOf(LockLostException.class);

            assertThat(link.sent(Command.Release.class)).hasSize(1);
            assertThat(isRecorded()).isFalse();
            assertThat(told).hasSize(3);
        }

        @Test
        @DisplayName("by force, of each process that reads on its own")
        void byForce() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            HolderThread<Hold> theirs =
                    HolderThread.holding(world, "theirs", () -> there.readLock().acquire());
            world.releaseByForce("catalogue");
            world.time().settle();

            assertThat(told).containsExactlyInAnyOrder("first REMOVED", "second REMOVED");
            assertThat(theirs.awaitGrant().isHeld()).isTrue();
            assertThatThrownBy(() -> first.actor().run(() -> here.readLock().lock()))
                    .isInstanceOf(LockLostException.class);
            assertThatThrownBy(first::release).isInstanceOf(LockLostException.class);
            assertThatThrownBy(second::release).isInstanceOf(LockLostException.class);
            reading("again").release();
            theirs.release();
        }

        @Test
        @DisplayName("a write hold that had become a read hold is lost as one, with the writer's token")
        void afterDowngrade() throws Exception {
            here.writeLock().lock();
            Hold reading = here.readLock().acquire();
            long token = reading.fencingToken();
            List<Loss> losses = new ArrayList<>();
            reading.onLost(losses::add);
            here.writeLock().unlock();
            world.releaseByForce("catalogue");
            world.time().settle();

            assertThat(losses).hasSize(1);
            assertThat(losses.get(0).token()).isEqualTo(token);
            assertThat(here.readLock().holdCount()).isEqualTo(1);
            assertThatThrownBy(() -> here.readLock().unlock()).isInstanceOf(LockLostException.class);
            assertThat(here.readLock().holdCount()).isZero();
        }

        @Test
        @DisplayName("a writer that is lost while it reads too learns it of both sides, and keeps nobody out")
        void downgradeOfWhatIsLost() throws Exception {
            here.writeLock().lock();
            here.readLock().lock();
            world.releaseByForce("catalogue");
            world.time().settle();

            assertThatThrownBy(() -> here.writeLock().unlock()).isInstanceOf(LockLostException.class);
            assertThat(here.readLock().isHeldByCurrentThread()).isFalse();
            HolderThread<Hold> theirs = HolderThread.holding(
                    world, "theirs", () -> there.writeLock().acquire());
            assertThatThrownBy(() -> here.readLock().unlock()).isInstanceOf(LockLostException.class);
            assertThat(theirs.awaitGrant().isHeld()).isTrue();
            theirs.release();
        }
    }

    @Nested
    @DisplayName("by the death of a thread")
    @Tag("D8")
    class Death {

        @Test
        @DisplayName("which is one reader less: the others read on, and the last of them frees the lock")
        void oneOfThem() throws Exception {
            HolderThread<Hold> dying = reading("dying");
            HolderThread<Hold> living = reading("living");
            dying.actor().die();
            world.advance(TTL);

            assertThat(told).containsExactly("dying OWNER_DIED");
            assertThat(living.awaitGrant().isHeld()).isTrue();
            HolderThread<Hold> writer = toWrite("writer", there);
            living.release();
            world.advance(Duration.ofSeconds(1));
            writer.release();
        }

        @Test
        @DisplayName("the last of them: the lock is free within a third of the ttl")
        void theLast() throws Exception {
            reading("first").actor().die();
            reading("second").actor().die();
            HolderThread<Hold> writer = toWrite("writer", there);
            world.advance(TTL.dividedBy(3));

            writer.release();
            assertThat(told).containsExactlyInAnyOrder("first OWNER_DIED", "second OWNER_DIED");
        }

        @Test
        @DisplayName("before it closed a lost hold: the grant goes back all the same")
        void withALostHold() throws Exception {
            HolderThread<Hold> dying = reading("dying");
            HolderThread<Hold> living = reading("living");
            link.fail(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            world.advance(Duration.ofSeconds(27));
            link.mend();
            dying.actor().die();
            assertThatThrownBy(living::release).isInstanceOf(LockLostException.class);
            world.advance(TTL);

            assertThat(isRecorded()).isFalse();
            reading("next").release();
        }
    }

    @Nested
    @DisplayName("by giving up")
    class GivingUp {

        @Test
        @DisplayName(
                "by interrupt, time-out or cancellation: those who want the same keep the place, and nobody who left ever holds")
        @Tag("D10")
        @Tag("C5")
        void fromTheQueue() throws Exception {
            there.writeLock().lock();
            Actor interrupted = world.actor("interrupted");
            Actor.Doing<Hold> first =
                    interrupted.startWaiting(() -> here.readLock().acquire());
            Actor.Doing<Hold> second =
                    world.actor("timed out").startWaiting(() -> here.readLock().acquire(Duration.ofSeconds(1)));
            CompletableFuture<Hold> third = here.readLock().acquireAsync().toCompletableFuture();
            HolderThread<Hold> patient =
                    HolderThread.waiting(world, "patient", () -> here.readLock().acquire());
            HolderThread<Hold> behind = toWrite("behind", world.client("carol").readWriteLock("catalogue"));
            assertThat(world.waitersOf("catalogue")).isEqualTo(2);

            interrupted.interrupt();
            assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);
            world.advance(Duration.ofSeconds(1));
            assertThatThrownBy(second::result).isInstanceOf(LockWaitTimeoutException.class);
            third.cancel(false);

            assertThat(world.waitersOf("catalogue")).isEqualTo(2);
            there.writeLock().unlock();
            patient.awaitGrant();
            assertThat(behind.isWaiting()).as("it came after the process").isTrue();
            patient.release();
            behind.release();
        }

        @Test
        @DisplayName("the last of them: the claim is withdrawn")
        @Tag("C5")
        void theLast() throws Exception {
            there.writeLock().lock();
            Actor reader = world.actor("reader");
            Actor.Doing<Hold> first = reader.startWaiting(() -> here.readLock().acquire());
            CompletableFuture<Hold> second = here.readLock().acquireAsync().toCompletableFuture();
            second.cancel(true);
            assertThat(world.waitersOf("catalogue")).isEqualTo(1);

            reader.interrupt();

            assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);
            Eventually.holds("nobody waits", () -> world.waitersOf("catalogue") == 0);
            there.writeLock().unlock();
        }

        @Test
        @DisplayName("before the store has answered: a grant that comes too late is given back")
        @Tag("C5")
        void lateGrant() throws Exception {
            FaultyLink.HeldUp asking = link.holdUpNext(Command.Acquire.class);
            Actor reader = world.actor("reader");
            Actor.Doing<Hold> waiting =
                    reader.startWaiting(() -> here.readLock().acquire());
            reader.interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);

            asking.proceed();

            Eventually.holds("it was given back", () -> !isRecorded());
        }

        @Test
        @DisplayName("lock() of either side waits on through interrupts, and keeps the flag")
        void uninterruptible() throws Exception {
            there.writeLock().lock();
            Actor reader = world.actor("reader");
            Actor.Doing<Boolean> waiting = reader.startWaiting(() -> {
                here.readLock().lock();
                boolean wasKept = Thread.interrupted();
                here.readLock().unlock();
                return wasKept;
            });
            reader.interrupt();
            there.writeLock().unlock();

            assertThat(waiting.result()).isTrue();
        }
    }

    @Nested
    @DisplayName("by the close of the client")
    @Tag("C9")
    class Closing {

        @Test
        @DisplayName("which every reader is told, and everybody who waits")
        @Tag("D8")
        void whileReading() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            HolderThread<Hold> writer = toWrite("writer", here);
            world.advance(Duration.ofMillis(2));
            CompletableFuture<Hold> reader = here.readLock().acquireAsync().toCompletableFuture();

            alice.close();
            world.time().settle();

            assertThat(told).containsExactlyInAnyOrder("first CLIENT_CLOSED", "second CLIENT_CLOSED");
            assertThatThrownBy(writer::awaitGrant).isInstanceOf(ClientClosedException.class);
            assertThatThrownBy(() -> reader.get(60, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(ClientClosedException.class);
            assertThat(isRecorded()).isFalse();
            assertThatThrownBy(first::release).isInstanceOf(LockLostException.class);
            assertThatThrownBy(second::release).isInstanceOf(LockLostException.class);
            assertThatThrownBy(() -> here.readLock().lock()).isInstanceOf(ClientClosedException.class);
        }

        @Test
        @DisplayName("a grant that is kept for the next reader goes with it")
        @Tag("D2")
        void whileKept() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            first.release();
            second.release();
            assertThat(isRecorded()).isTrue();

            alice.close();

            assertThat(isRecorded()).isFalse();
            world.advance(TTL);
            assertThat(told).isEmpty();
        }
    }

    @Nested
    @DisplayName("in doubt")
    @Tag("C13")
    @Tag("D8")
    class InDoubt {

        @Test
        @DisplayName(
                "one of several who lets go asks the store whether it was good; the others wait for the end of the doubt")
        void oneLetsGo() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            link.forget();
            FaultyLink.HeldUp question = link.holdUpNext(Command.KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            assertThat(first.awaitGrant().isHeld()).isFalse();

            first.release();
            assertThat(link.sent(Command.Poll.class)).hasSize(1);
            HolderThread<Hold> third =
                    HolderThread.waiting(world, "third", () -> here.readLock().acquire());

            question.proceed();
            assertThat(second.awaitGrant().isHeld()).isTrue();
            assertThat(third.awaitGrant().isHeld()).isTrue();
            assertThat(told).isEmpty();
            second.release();
            third.release();
        }

        @Test
        @DisplayName("and is told that it was not, if the store does not have the grant")
        void gone() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            link.loseSignals();
            link.holdUpNext(Command.KeepAlive.class);
            world.releaseByForce("catalogue");
            world.time().stepWall(Duration.ofHours(1));

            assertThat(first.awaitGrant().isHeld()).isFalse();
            assertThatThrownBy(first::release).isInstanceOf(LockLostException.class);
            assertThat(second.actor()
                            .<ReleaseOutcome>call(() -> second.awaitGrant()
                                    .releaseAsync()
                                    .toCompletableFuture()
                                    .get(60, TimeUnit.SECONDS)))
                    .isEqualTo(ReleaseOutcome.LOST);
            link.mend();
        }

        @Test
        @DisplayName("and counts as lost to the one that lets go, if the store does not answer")
        void unanswered() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            link.failNext(Command.Poll.class, Reason.UNAVAILABLE, Effect.NONE);
            world.time().stepWall(Duration.ofHours(1));
            assertThat(first.awaitGrant().isHeld()).isFalse();

            assertThatThrownBy(first::release).isInstanceOf(LockLostException.class);

            second.actor().run(() -> second.awaitGrant().ensureHeld());
            second.release();
        }

        @Test
        @DisplayName("and counts as lost to the one that lets go, if the store confirms it after the deadline")
        void confirmedLate() throws Exception {
            HolderThread<Hold> first = reading("first");
            HolderThread<Hold> second = reading("second");
            FaultyLink.HeldUp confirmation = link.holdUpNext(Command.Poll.class);
            link.holdUpNext(Command.KeepAlive.class);
            world.time().stepWall(Duration.ofHours(1));
            CompletableFuture<ReleaseOutcome> ending = letGo(first);
            Reply granted = confirmation.deliver();
            world.time().suspend(TTL);

            confirmation.answer(granted);

            assertThat(ending.join()).isEqualTo(ReleaseOutcome.LOST);
            assertThat(letGo(second).join()).isEqualTo(ReleaseOutcome.LOST);
            link.mend();
        }

        private CompletableFuture<ReleaseOutcome> letGo(HolderThread<Hold> reader) throws Exception {
            return reader.actor().call(() -> reader.awaitGrant().releaseAsync().toCompletableFuture());
        }
    }
}
