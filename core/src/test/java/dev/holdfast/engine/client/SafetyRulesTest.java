package dev.holdfast.engine.client;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("C1")
class SafetyRulesTest {

    private static final long HUNDRED_YEARS = 36_525L * 86_400_000_000_000L;

    private final SafetyRules rules = new SafetyRules();

    @Test
    void marginIsATenthOrTwiceTheSlowRoundTripsOrTwentyMilliseconds() {
        assertThat(rules.margin(SECONDS.toNanos(30), 0)).isEqualTo(SECONDS.toNanos(3));
        assertThat(rules.margin(SECONDS.toNanos(30), SECONDS.toNanos(2))).isEqualTo(SECONDS.toNanos(4));
        assertThat(rules.margin(MILLISECONDS.toNanos(200), 0)).isEqualTo(MILLISECONDS.toNanos(20));
        assertThat(rules.margin(MILLISECONDS.toNanos(50), 0)).isEqualTo(MILLISECONDS.toNanos(20));
    }

    @Test
    void slowRoundTripsTakeAQuarterAtTheMost() {
        assertThat(rules.margin(SECONDS.toNanos(30), HOURS.toNanos(1))).isEqualTo(SECONDS.toNanos(30) / 4);
        assertThat(rules.margin(SECONDS.toNanos(30), Long.MAX_VALUE / 4)).isEqualTo(SECONDS.toNanos(30) / 4);
    }

    @Property
    void marginLeavesMostOfALeaseAndIsNeverUnderATenth(
            @ForAll @LongRange(min = 200_000_000, max = HUNDRED_YEARS) long lease,
            @ForAll @LongRange(min = 0, max = 100_000_000_000_000L) long roundTrip) {
        long margin = rules.margin(lease, roundTrip);
        assertThat(margin).isBetween(Math.max(lease / 10, 20_000_000), Math.max(lease / 4, 20_000_000));
    }

    @Property
    void deadlineCountsFromTheSendingHoweverLateTheAnswer(
            @ForAll long sentAt,
            @ForAll @LongRange(min = 0, max = HUNDRED_YEARS) long trip,
            @ForAll @LongRange(min = 200_000_000, max = HUNDRED_YEARS) long lease) {
        long margin = rules.margin(lease, 0);
        long deadline = rules.deadline(sentAt, sentAt + trip, lease, margin);

        // The store counts from its own step, at the earliest when the request was sent.
        assertThat(sentAt + lease - deadline).isEqualTo(margin);
        assertThat(rules.isGood(deadline - 1, deadline)).isTrue();
        assertThat(rules.isGood(deadline, deadline)).isFalse();
    }

    @Property
    void nothingGoesOnAtOrAfterTheDeadline(
            @ForAll long deadline, @ForAll @LongRange(min = 0, max = HUNDRED_YEARS) long later) {
        long now = deadline + later;
        assertThat(rules.isGood(now, deadline)).isFalse();
        assertThat(rules.mayRenew(now, deadline)).isFalse();
        assertThat(rules.mayHandOn(now, deadline, false)).isFalse();
        assertThat(rules.mayPassOn(now, deadline)).isFalse();
        assertThat(rules.isGood(deadline - 1 - later, deadline)).isTrue();
        assertThat(rules.mayHandOn(deadline - 1 - later, deadline, true)).isFalse();
    }

    @Test
    void comparisonsSurviveTheOverflowOfTheClock() {
        long deadline = Long.MIN_VALUE + 5;
        assertThat(rules.isGood(Long.MAX_VALUE - 5, deadline)).isTrue();
        assertThat(rules.isGood(Long.MIN_VALUE + 6, deadline)).isFalse();
        assertThat(rules.deadline(Long.MAX_VALUE - 5, 0, DAYS.toNanos(1), 0)).isNegative();
    }
}
