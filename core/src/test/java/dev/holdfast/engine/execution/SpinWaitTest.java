package dev.holdfast.engine.execution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Environment;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SpinWaitTest {

    private static final long MOST = 200;

    /** A clock that goes on by one with each look. */
    private static final class Clock implements Environment {
        private final long most;
        private long now = Long.MAX_VALUE - 100;

        Clock(long most) {
            this.most = most;
        }

        @Override
        public long maxSpinNanos() {
            return most;
        }

        @Override
        public long monotonicNanos() {
            return now++;
        }

        @Override
        public long bootNanos() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long wallMillis() {
            throw new UnsupportedOperationException();
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

    private final Clock clock = new Clock(MOST);
    private final SpinWait wait = new SpinWait(clock);

    private int looksFor(SpinWait by, int comesAt) {
        return looksFor(by, comesAt, Long.MAX_VALUE);
    }

    private int looksFor(SpinWait by, int comesAt, long longest) {
        AtomicInteger looks = new AtomicInteger();
        by.until(() -> looks.incrementAndGet() > comesAt, longest);
        return looks.get();
    }

    @Test
    void endsWhenWhatItWaitsForHasCome() {
        assertThat(looksFor(wait, 7)).isEqualTo(8);
    }

    @Test
    void givesUpAfterAWhile() {
        assertThat(looksFor(wait, Integer.MAX_VALUE)).isEqualTo((int) MOST + 1);
    }

    @Test
    void staysNoLongerThanWhoWaits() {
        assertThat(looksFor(wait, Integer.MAX_VALUE, 50)).isEqualTo(51);
        assertThat(looksFor(wait, 7, 0)).isZero();
        assertThat(looksFor(wait, 7, -1)).isZero();
        // That says nothing of how long it would have taken.
        assertThat(looksFor(wait, 7)).isEqualTo(8);
    }

    @Test
    void leavesItOutAfterATimeInVain() {
        looksFor(wait, Integer.MAX_VALUE);
        assertThat(looksFor(wait, 7)).isEqualTo(1);
        clock.now += 64 * MOST;
        assertThat(looksFor(wait, 7)).isEqualTo(8);
    }

    @Test
    void leavesItOutWhereOthersKeepTheProcessorThatItLetsThemHave() {
        AtomicInteger looks = new AtomicInteger();
        wait.until(
                () -> {
                    clock.now += 20 * MOST;
                    return looks.incrementAndGet() == 2;
                },
                Long.MAX_VALUE);
        clock.now += 64 * MOST;
        assertThat(looksFor(wait, 7)).isEqualTo(1);
    }

    @Test
    void neverStaysAwakeWhereNoneMay() {
        assertThat(looksFor(new SpinWait(new Clock(0)), 7)).isZero();
    }

    @Test
    void onlyOneThreadAtATimeIsAwake() throws InterruptedException {
        AtomicInteger looksOfTheOther = new AtomicInteger(-1);
        AtomicInteger looks = new AtomicInteger();
        wait.until(
                () -> {
                    if (looks.incrementAndGet() == 3) {
                        Thread other = new Thread(() -> looksOfTheOther.set(looksFor(wait, 7)));
                        other.start();
                        joined(other);
                    }
                    return looks.get() == 5;
                },
                Long.MAX_VALUE);
        assertThat(looksOfTheOther).hasValue(1);
        assertThat(looks).hasValue(5);
    }

    private static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
