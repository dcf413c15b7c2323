package dev.holdfast.engine.time;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Environment;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class ElapsedClockTest {

    /** Three clocks that a test sets; the boot clock counts in hundredths of a second. */
    static final class Clocks implements Environment {
        private long monotonic = 123_456_789;
        private long suspended;
        private long wallAhead;

        void passes(Duration time) {
            monotonic += time.toNanos();
        }

        void sleeps(Duration time) {
            suspended += time.toNanos();
        }

        void wallSteps(Duration time) {
            wallAhead += time.toNanos();
        }

        @Override
        public long monotonicNanos() {
            return monotonic;
        }

        @Override
        public long bootNanos() {
            return Math.floorDiv(monotonic + suspended, 10_000_000) * 10_000_000;
        }

        @Override
        public long wallMillis() {
            return 1_750_000_000_000L + TimeUnit.NANOSECONDS.toMillis(monotonic + suspended + wallAhead);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Executor callbacks() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long randomLong() {
            throw new UnsupportedOperationException();
        }
    }

    private static final Duration TTL = Duration.ofSeconds(30);

    private final Clocks clocks = new Clocks();
    private final ElapsedClock clock = new ElapsedClock(clocks, TTL);

    private long elapsed(Runnable what) {
        long before = clock.now();
        what.run();
        return clock.now() - before;
    }

    @Test
    void timePasses() {
        assertThat(elapsed(() -> clocks.passes(Duration.ofSeconds(7)))).isEqualTo(SECONDS.toNanos(7));
        assertThat(clock.steps()).isZero();
    }

    @Test
    void sleepCountsAndIsNoStep() {
        assertThat(elapsed(() -> clocks.sleeps(Duration.ofHours(1))))
                .isBetween(
                        SECONDS.toNanos(3600) - MILLISECONDS.toNanos(10),
                        SECONDS.toNanos(3600) + MILLISECONDS.toNanos(10));
        assertThat(clock.steps()).isZero();
    }

    @Test
    void manyShortSleepsAddUp() {
        long counted = elapsed(() -> {
            for (int i = 0; i < 100; i++) {
                clocks.sleeps(Duration.ofMillis(300));
                clocks.passes(Duration.ofMillis(100));
                long unused = clock.now();
            }
        });
        // What the grain of the boot clock hides is not more than one grain.
        assertThat(counted)
                .isBetween(
                        SECONDS.toNanos(40) - MILLISECONDS.toNanos(20), SECONDS.toNanos(40) + MILLISECONDS.toNanos(10));
        assertThat(clock.steps()).isZero();
    }

    @Test
    void sleepCountsThoughTheWallClockIsSetBackOnWaking() {
        assertThat(elapsed(() -> {
                    clocks.sleeps(Duration.ofMinutes(1));
                    clocks.wallSteps(Duration.ofMinutes(-30));
                }))
                .isGreaterThan(SECONDS.toNanos(59));
        assertThat(clock.steps()).isZero();
    }

    @Test
    void forwardStepOfTheWallIsCountedOnceAndAddsNoTime() {
        assertThat(elapsed(() -> clocks.wallSteps(Duration.ofHours(1)))).isZero();
        assertThat(clock.steps()).isEqualTo(1);
        clocks.passes(Duration.ofSeconds(1));
        assertThat(elapsed(() -> clocks.passes(Duration.ofSeconds(1)))).isEqualTo(SECONDS.toNanos(1));
        assertThat(clock.steps()).isEqualTo(1);
    }

    @Test
    void stepBeyondASleepIsAStep() {
        long unused = elapsed(() -> {
            clocks.sleeps(Duration.ofMinutes(1));
            clocks.wallSteps(Duration.ofMinutes(2));
        });
        assertThat(clock.steps()).isEqualTo(1);
    }

    @Test
    void backwardStepIsNoneAndTheWayBackIsOne() {
        assertThat(elapsed(() -> clocks.wallSteps(Duration.ofHours(-1)))).isZero();
        assertThat(clock.steps()).isZero();
        assertThat(elapsed(() -> clocks.wallSteps(Duration.ofHours(1)))).isZero();
        assertThat(clock.steps()).isEqualTo(1);
    }

    @Test
    void slewingIsNoStep() {
        for (int i = 0; i < 10_000; i++) {
            clocks.passes(Duration.ofMillis(10));
            clocks.wallSteps(Duration.ofNanos(833_333));
            long unused = clock.now();
        }
        assertThat(clock.steps()).isZero();
    }

    @Test
    void smallStepsMatterWhereTheTtlIsShort() {
        ElapsedClock ofShortTtl = new ElapsedClock(clocks, Duration.ofMillis(1500));
        clocks.wallSteps(Duration.ofMillis(60));
        long unused = ofShortTtl.now();
        long other = clock.now();
        assertThat(ofShortTtl.steps()).isEqualTo(1);
        assertThat(clock.steps()).isZero();
    }

    /** Whatever the clocks do: elapsed time never goes back, and is never less than the monotonic clock's. */
    @Property(tries = 300)
    void elapsedTimeNeverGoesBack(@ForAll @Size(max = 50) int @IntRange(min = -2_000, max = 10_000) [] events) {
        Clocks some = new Clocks();
        ElapsedClock its = new ElapsedClock(some, TTL);
        long last = its.now();
        for (int event : events) {
            Duration much = Duration.ofMillis(Math.abs(event));
            long monotonic = some.monotonic;
            switch (Math.floorMod(event, 3)) {
                case 0 -> some.passes(much);
                case 1 -> some.sleeps(much);
                default -> some.wallSteps(Duration.ofMillis(event));
            }
            long now = its.now();
            assertThat(now - last).isGreaterThanOrEqualTo(some.monotonic - monotonic);
            last = now;
        }
    }
}
