package dev.holdfast.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A fixed lease")
class FixedLeaseStateTest {

    private final FixedLeaseState lease = new FixedLeaseState(Lease.detached(Duration.ofNanos(100)));

    @Test
    @DisplayName("ends when it was last said to, and never later than it must")
    void end() {
        lease.endAt(1_100);
        lease.endBy(1_110);
        assertThat(lease.deadline()).isEqualTo(1_100);
        lease.endBy(1_090);
        assertThat(lease.deadline()).isEqualTo(1_090);
        lease.endAt(1_200);
        assertThat(lease.deadline()).isEqualTo(1_200);
        assertThat(lease.lengthNanos()).isEqualTo(100);
    }

    @Test
    @DisplayName("has ended at the store a quarter of its length after its deadline, or later during an extension")
    void endedAtStore() {
        lease.endAt(1_100);
        assertThat(lease.hasEndedAtStore(1_125)).isFalse();
        assertThat(lease.hasEndedAtStore(1_126)).isTrue();

        // The lease and the extension may add up, and the store's clock may be slow for all of that.
        assertThat(lease.beginExtension(300)).isEqualTo(1);
        assertThat(lease.hasEndedAtStore(1_600)).isFalse();
        assertThat(lease.hasEndedAtStore(1_601)).isTrue();
        lease.endExtension(300, 1_050, 1_200);
        lease.endAt(1_350);
        assertThat(lease.hasEndedAtStore(1_425)).isFalse();
        assertThat(lease.hasEndedAtStore(1_426)).isTrue();
    }

    @Test
    @DisplayName("is over after its longest possible length, counted from the last moment of its session")
    void over() {
        assertThat(lease.isOverBy(1_325, 1_200)).isFalse();
        assertThat(lease.isOverBy(1_326, 1_200)).isTrue();
        lease.beginExtension(300);
        assertThat(lease.isOverBy(1_700, 1_200)).isFalse();
        assertThat(lease.isOverBy(1_701, 1_200)).isTrue();
        lease.endExtension(300, 1_250, 1_200);
        assertThat(lease.isOverBy(1_637, 1_200)).isFalse();
        assertThat(lease.isOverBy(1_638, 1_200)).isTrue();
        lease.endExtension(300, 1_100, 1_200);
        assertThat(lease.isOverBy(1_575, 1_200)).isFalse();
        assertThat(lease.isOverBy(1_576, 1_200)).isTrue();
    }

    @Test
    @DisplayName(
            "is not over early because extensions that may still take effect add up to more than a clock can count")
    void manyLongExtensions() {
        for (int i = 0; i < 5; i++) {
            lease.beginExtension(Duration.ofDays(36_525).toNanos());
            assertThat(lease.isOverBy(1_000, 900)).isFalse();
        }
    }

    @Test
    @DisplayName("stops the check of its end, if there is one")
    void check() {
        List<String> cancelled = new ArrayList<>();
        lease.stopChecking();
        lease.checkBy(() -> cancelled.add("first"));
        lease.stopChecking();
        lease.checkBy(() -> cancelled.add("second"));
        assertThat(cancelled).containsExactly("first");
    }

    @Test
    @DisplayName("is not made longer by answers to requests that were sent before an extension was answered")
    void outdated() {
        assertThat(lease.isOutdated(1_000)).isFalse();
        // The time of a monotonic clock may be negative.
        assertThat(lease.isOutdated(-1)).isFalse();
        assertThat(lease.beginExtension(100)).isEqualTo(1);
        assertThat(lease.isOutdated(1_000)).isTrue();
        assertThat(lease.beginExtension(100)).isEqualTo(2);
        assertThat(lease.isNewestExtension(1)).isFalse();
        assertThat(lease.isNewestExtension(2)).isTrue();
        lease.endExtension(100, 1_050, 1_200);
        assertThat(lease.isOutdated(1_049)).isTrue();
        assertThat(lease.isOutdated(1_050)).isFalse();
    }

    @Test
    @DisplayName("is in doubt after a step of the clock until the store has confirmed it, and asks once about it")
    void doubt() {
        assertThat(lease.inDoubt(0)).isFalse();
        assertThat(lease.askOnce(0)).isFalse();
        assertThat(lease.inDoubt(1)).isTrue();
        assertThat(lease.askOnce(1)).isTrue();
        assertThat(lease.askOnce(1)).isFalse();
        lease.askAgain();
        assertThat(lease.askOnce(1)).isTrue();
        lease.clearDoubt(1);
        lease.clearDoubt(0);
        assertThat(lease.inDoubt(1)).isFalse();
        assertThat(lease.askOnce(1)).isFalse();
    }

    @Test
    @DisplayName("is polled once an interval after it was confirmed")
    void polls() {
        lease.confirm(1_000, 2);
        assertThat(lease.inDoubt(2)).isFalse();
        assertThat(lease.beginPoll(1_099, 100)).isFalse();
        assertThat(lease.beginPoll(1_100, 100)).isTrue();
        assertThat(lease.beginPoll(1_199, 100)).isFalse();
        assertThat(lease.beginPoll(1_200, 100)).isTrue();
    }

    @Test
    @DisplayName("is copied with what may be at the store")
    void copies() {
        lease.beginExtension(300);
        FixedLeaseState copy = lease.copy();
        assertThat(copy.lengthNanos()).isEqualTo(100);
        assertThat(copy.isOutdated(5_000)).isTrue();
        assertThat(copy.isOverBy(1_700, 1_200)).isFalse();
        assertThat(copy.isOverBy(1_701, 1_200)).isTrue();
        assertThat(copy.isNewestExtension(1)).isTrue();
    }
}
