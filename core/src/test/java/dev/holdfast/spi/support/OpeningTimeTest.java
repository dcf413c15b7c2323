package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OpeningTimeTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private long now;
    private long work;

    private final OpeningTime time = new OpeningTime(LIMIT, () -> now, () -> work);

    /** How long it takes until the time is over, in a process that uses so much of a processor. */
    private long secondsUntilOver(double share) {
        long before = now;
        while (time.leftNanos() > 0) {
            long step = time.pauseNanos();
            now += step;
            work += Math.round(step * share);
        }
        return TimeUnit.NANOSECONDS.toSeconds(now - before);
    }

    private void pass(Duration length, double share) {
        for (long end = now + length.toNanos(); now < end; ) {
            long step = Math.min(time.pauseNanos(), end - now);
            now += step;
            work += Math.round(step * share);
        }
    }

    @Test
    void waitingForAServerCounts() {
        assertThat(secondsUntilOver(0.01)).isEqualTo(10);
    }

    @Test
    void ownWorkDoesNotCountHoweverSlowItIs() {
        pass(Duration.ofSeconds(29), 0.1);

        assertThat(time.leftNanos()).isEqualTo(LIMIT.toNanos());
        assertThat(secondsUntilOver(0.01)).isEqualTo(10);
    }

    @Test
    void workThatIsOfSomethingElseDoesNotGoOnForEver() {
        assertThat(secondsUntilOver(1)).isBetween(17L, 19L);
    }

    @Test
    void aLittleWorkOfSomethingElseDoesNotLengthenTheWaitWithoutEnd() {
        assertThat(secondsUntilOver(0.05)).isEqualTo(40);
    }

    @Test
    void partsOfAnIntervalAreCountedBeforeItEnds() {
        now += 1;

        assertThat(time.leftNanos()).isEqualTo(LIMIT.toNanos() - 1);
    }

    @Test
    void whereTheSystemTellsNothingAllCounts() {
        assertThat(secondsUntilOver(0)).isEqualTo(10);
    }
}
