package dev.holdfast.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Time that passes while a thread waits")
class PassingTimeTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final int LOOKS = 50;

    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger steps = new AtomicInteger();
    private final AtomicInteger stepsAtTheLook = new AtomicInteger();
    private final CountDownLatch hasPassed = new CountDownLatch(1);

    private void step() {
        steps.incrementAndGet();
        hasPassed.countDown();
    }

    /** A grant that is under way at the first looks. */
    private boolean isGrantUnderWay() {
        int look = looks.incrementAndGet();
        if (look == LOOKS) {
            stepsAtTheLook.set(steps.get());
        }
        return look < LOOKS;
    }

    @Test
    @DisplayName("stands still while the thread has yet to take up what it was granted")
    void standsStill() throws Exception {
        PassingTime passing =
                new PassingTime(step -> step(), () -> Duration.ofMillis(1), this::isGrantUnderWay, HOUR, HOUR);
        passing.begin(Thread.currentThread());
        hasPassed.await();
        assertThat(passing.end()).isEmpty();
        assertThat(looks).hasValueGreaterThanOrEqualTo(LOOKS);
        assertThat(stepsAtTheLook).hasValue(0);
    }

    @Test
    @DisplayName("passes in the end, since the thread may wait for something else")
    void passesInTheEnd() throws Exception {
        PassingTime passing =
                new PassingTime(step -> step(), () -> Duration.ofMillis(1), () -> true, HOUR, Duration.ofMillis(1));
        passing.begin(Thread.currentThread());
        hasPassed.await();
        assertThat(passing.end()).isEmpty();
    }
}
