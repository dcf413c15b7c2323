package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/*
 * The same scenario runs repeatedly, and at each call of one kind a fault is thrown in turn: at the first call in the
 * first run, at the second in the second, and so on until a run ends before its turn comes.
 */
@DisplayName("Whatever is thrown, and wherever")
class FaultsInTurnTest {

    private static final int MOST_TELLINGS = 2_000;

    /** Where something is thrown. */
    enum Place {
        /** No timer can be set. */
        TIMER,
        /** No timer can be set, or so it seems: it is. */
        KEPT_TIMER,
        /** The executor of callbacks refuses. */
        CALLBACK,
        /** It refuses, and runs the task all the same. */
        KEPT_CALLBACK,
        /** The store throws, and does nothing. */
        COMMAND,
        /** The store throws when it has carried the command out. */
        ANSWER,
        /** Wherever the engine draws a random number. */
        RANDOM,
        /** Wherever the engine reads the clock. */
        CLOCK
    }

    @ParameterizedTest(name = "at a {0}")
    @EnumSource
    @DisplayName("all who wait are served or told, and nothing stays behind")
    void inTurn(Place place) {
        int tellings = 0;
        boolean cameToIt = true;
        while (cameToIt) {
            tellings++;
            assertThat(tellings).isLessThan(MOST_TELLINGS);
            cameToIt = tell(new Fault(place, tellings));
        }
        assertThat(tellings).isGreaterThan(3);
    }

    /** Runs the scenario; returns whether the fault was thrown. */
    private static boolean tell(Fault fault) {
        try (World world = World.still()) {
            FaultyLink link = world.link(store -> new FaultyStore(store, fault));
            Holdfast alice =
                    world.client(world.builder("alice", link).environment(new FaultyEnvironment(world.time(), fault)));
            Holdfast bob = world.client("bob");
            Hold his = bob.lock("ledger").acquireAsync().toCompletableFuture().join();
            DistributedCountDownLatch latch = bob.latch("imported");
            assertThat(latch.trySetCount(1)).isTrue();

            fault.isArmed = true;
            List<CompletableFuture<?>> asked = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                asked.add(brief(alice.lock("ledger").acquireAsync()));
                asked.add(brief(alice.semaphore("gpu", 2).acquireAsync(1, AcquireOptions.defaults())));
                asked.add(alice.latch("imported").awaitAsync().toCompletableFuture());
            }
            asked.get(3).cancel(false);
            his.close();
            latch.countDown();
            world.advance(Duration.ofSeconds(15));
            asked.add(brief(alice.lock("ledger").acquireAsync()));
            fault.isArmed = false;

            String when = " after " + fault;
            Eventually.holds("all are served or told" + when, () -> {
                world.advance(Duration.ofMillis(500));
                return asked.stream().allMatch(CompletableFuture::isDone);
            });
            // Its session lives: nothing ends by the end of that.
            Eventually.holds("nothing stays behind" + when, () -> {
                world.advance(Duration.ofMillis(500));
                return world.recordOf("ledger").isEmpty()
                        && world.recordOf("gpu").isEmpty();
            });
            CompletableFuture<?> again = brief(alice.lock("ledger").acquireAsync());
            Eventually.holds("it goes on" + when, () -> {
                world.advance(Duration.ofMillis(500));
                return again.isDone();
            });
            assertThat(again).as("it goes on" + when).isCompleted();
            return fault.wasThrown;
        }
    }

    @ParameterizedTest(name = "at a {0}")
    @EnumSource
    @DisplayName("to a thread that waits, it leaves nothing behind that is granted to nobody")
    void inTurnOfAThread(Place place) throws Exception {
        int tellings = 0;
        boolean cameToIt = true;
        while (cameToIt) {
            tellings++;
            assertThat(tellings).isLessThan(MOST_TELLINGS);
            cameToIt = tellOfAThread(new Fault(place, tellings));
        }
    }

    /** Runs a scenario with a waiting thread, at whose calls the fault is thrown; returns whether it was. */
    private static boolean tellOfAThread(Fault fault) throws Exception {
        try (World world = World.still()) {
            FaultyLink link = world.link(store -> new FaultyStore(store, fault));
            Holdfast alice =
                    world.client(world.builder("alice", link).environment(new FaultyEnvironment(world.time(), fault)));
            Hold his = world.client("bob")
                    .lock("ledger")
                    .acquireAsync()
                    .toCompletableFuture()
                    .join();
            Actor thread = world.actor("thread");

            fault.only = thread.thread();
            fault.isArmed = true;
            Actor.Doing<Boolean> waiting = thread.start(() -> {
                alice.lock("ledger").acquire(Duration.ofSeconds(40)).close();
                return true;
            });
            world.advance(Duration.ofSeconds(15));
            his.close();
            Eventually.holds("it has it, or was told after " + fault, () -> {
                world.advance(Duration.ofMillis(500));
                return waiting.isDone();
            });
            fault.isArmed = false;

            Eventually.holds("nothing stays behind after " + fault, () -> {
                world.advance(Duration.ofMillis(500));
                return world.recordOf("ledger").isEmpty();
            });
            CompletableFuture<?> again = brief(alice.lock("ledger").acquireAsync());
            world.advance(Duration.ofMillis(500));
            assertThat(again).as("it goes on after " + fault).isCompleted();
            return fault.wasThrown;
        }
    }

    private static CompletableFuture<?> brief(CompletionStage<? extends Hold> asked) {
        CompletableFuture<? extends Hold> hold = asked.toCompletableFuture();
        var unused = hold.thenCompose(Hold::releaseAsync);
        return hold;
    }

    /** Throws at one call of a kind. */
    private static final class Fault {
        private final Place place;
        private final int turn;
        private final AtomicInteger calls = new AtomicInteger();
        private volatile boolean isArmed;
        private volatile boolean wasThrown;

        /** At whose calls it is thrown; null for all. */
        private volatile @Nullable Thread only;

        Fault(Place place, int turn) {
            this.place = place;
            this.turn = turn;
        }

        void at(Place here) {
            Thread meant = only;
            if (here == place
                    && isArmed
                    && (meant == null || meant == Thread.currentThread())
                    && calls.incrementAndGet() == turn) {
                wasThrown = true;
                // Not an OutOfMemoryError: JUnit itself gives up at that.
                throw new Error("the test says so: " + this);
            }
        }

        @Override
        public String toString() {
            return place + " " + turn;
        }
    }

    private static final class FaultyEnvironment extends ForwardingEnvironment {
        private final Fault fault;

        FaultyEnvironment(Environment real, Fault fault) {
            super(real);
            this.fault = fault;
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            fault.at(Place.TIMER);
            Timer timer = real.schedule(delayNanos, task);
            fault.at(Place.KEPT_TIMER);
            return timer;
        }

        @Override
        public Executor callbacks() {
            return task -> {
                fault.at(Place.CALLBACK);
                real.callbacks().execute(task);
                fault.at(Place.KEPT_CALLBACK);
            };
        }

        @Override
        public long randomLong() {
            fault.at(Place.RANDOM);
            return real.randomLong();
        }

        @Override
        public long monotonicNanos() {
            fault.at(Place.CLOCK);
            return real.monotonicNanos();
        }
    }

    private static final class FaultyStore extends ForwardingStore {
        private final Fault fault;

        FaultyStore(LockStore store, Fault fault) {
            super(store);
            this.fault = fault;
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            fault.at(Place.COMMAND);
            CompletionStage<Reply> reply = super.execute(command, caller);
            fault.at(Place.ANSWER);
            return reply;
        }
    }
}
