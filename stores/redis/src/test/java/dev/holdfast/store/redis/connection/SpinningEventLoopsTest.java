package dev.holdfast.store.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.netty.channel.SelectStrategy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpinningEventLoopsTest {

    private final InFlight inFlight = new InFlight();
    private long now = Long.MAX_VALUE - 1_000;
    private SpinningEventLoops.SpinningSelectStrategy thread;

    @BeforeEach
    void begin() {
        thread = new SpinningEventLoops.SpinningSelectStrategy(inFlight, () -> now);
    }

    private int idle() throws Exception {
        return thread.calculateStrategy(() -> 0, false);
    }

    /** How long it stays awake when nothing comes, in steps of 10 µs. */
    @CanIgnoreReturnValue
    private long awake() throws Exception {
        long begun = now;
        while (idle() != SelectStrategy.SELECT) {
            now += 10_000;
        }
        return now - begun;
    }

    @Test
    void staysAwakeForAnAnswerAndLessLongForACommand() throws Exception {
        assertThat(awake()).isEqualTo(SpinningEventLoops.MOST_NANOS_FOR_COMMANDS);
        inFlight.begins();
        assertThat(awake()).isEqualTo(SpinningEventLoops.MOST_NANOS_FOR_ANSWERS);
    }

    @Test
    void neverSleepsWhileThereIsSomethingToDo() throws Exception {
        for (int i = 0; i < 100; i++) {
            assertThat(thread.calculateStrategy(() -> 3, false)).isEqualTo(3);
            assertThat(thread.calculateStrategy(() -> 0, true)).isZero();
            awake();
        }
    }

    @Test
    void aProgramThatTakesItsTimeHindersNotThatAnswersAreLookedOutFor() throws Exception {
        for (int i = 0; i < 10_000; i++) {
            awake();
            now += 1_000_000;
            inFlight.begins();
            assertThat(idle()).isZero();
            assertThat(thread.calculateStrategy(() -> 1, false)).isEqualTo(1);
            inFlight.ends();
        }
    }

    @Test
    void sleepsAtOnceWhereLookingOutIsInVain() throws Exception {
        inFlight.begins();
        long awake = 0;
        for (int i = 0; i < 10_000; i++) {
            awake += awake();
            now += 1_000_000;
            assertThat(thread.calculateStrategy(() -> 1, false)).isEqualTo(1);
        }
        assertThat(awake).isLessThanOrEqualTo(60 * SpinningEventLoops.MOST_NANOS_FOR_ANSWERS);
    }

    @Test
    void sleepsWhereOthersKeepTheProcessorThatItLetsThemHave() throws Exception {
        inFlight.begins();
        long lost = 0;
        long begun = now;
        for (int i = 0; i < 10_000; i++) {
            if (idle() == SelectStrategy.SELECT) {
                now += 100_000;
            } else {
                now += 4_000_000;
                lost += 4_000_000;
            }
            assertThat(thread.calculateStrategy(() -> 1, false)).isEqualTo(1);
        }
        assertThat(lost).isLessThan((now - begun) / 20);
    }
}
