package dev.holdfast.engine.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A turn under a grant")
class FairnessSliceTest {

    private static final long TURN = 1000;

    private final ElapsedClockTest.Clocks clocks = new ElapsedClockTest.Clocks();
    private final ElapsedClock clock = new ElapsedClock(clocks, Duration.ofSeconds(30));
    private final FairnessSlice turn = new FairnessSlice();
    private final Thread owner = new Thread();
    private final Thread other = new Thread();

    private void passTo(Thread waiter, boolean shares) {
        turn.passTo(waiter, shares, clock, TURN);
    }

    private boolean isOver() {
        return turn.isOver(clock.now());
    }

    @Test
    @DisplayName("is over before anybody was served")
    void nobodys() {
        assertThat(isOver()).isTrue();
        assertThat(turn.includes(owner, false)).isFalse();
        assertThat(turn.includes(null, false)).isFalse();
    }

    @Test
    @DisplayName("is not longer for an owner that asks again")
    void asksAgain() {
        passTo(owner, false);
        clocks.passes(Duration.ofNanos(TURN - 1));
        passTo(owner, false);
        assertThat(isOver()).isFalse();
        clocks.passes(Duration.ofNanos(1));
        assertThat(isOver()).isTrue();
        assertThat(turn.isOwnedBy(owner)).isTrue();
    }

    @Test
    @DisplayName("begins anew for the next owner")
    void next() {
        passTo(owner, false);
        clocks.passes(Duration.ofNanos(TURN));
        passTo(other, false);
        assertThat(isOver()).isFalse();
        assertThat(turn.includes(other, false)).isTrue();
        assertThat(turn.includes(owner, false)).isFalse();
    }

    @Test
    @DisplayName("is over at once for who does not wait as a thread")
    void stage() {
        passTo(null, false);
        assertThat(isOver()).isTrue();
    }

    @Test
    @DisplayName("is one for all who share, and not longer for who joins them")
    void shared() {
        passTo(owner, true);
        clocks.passes(Duration.ofNanos(TURN - 1));
        passTo(other, true);
        assertThat(turn.includes(null, true)).isTrue();
        assertThat(turn.includes(owner, false)).isFalse();
        clocks.passes(Duration.ofNanos(1));
        assertThat(isOver()).isTrue();
    }

    @Test
    @DisplayName("is given up by an owner that stays away between two checks")
    void staysAway() {
        passTo(owner, false);
        turn.beginWatch();
        assertThat(turn.check(clock.now(), 7)).isFalse();
        assertThat(turn.check(clock.now(), 8)).isFalse();
        assertThat(turn.check(clock.now(), 8)).isTrue();
    }
}
