package dev.holdfast.store.jdbc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("What is remembered of names that nobody uses")
class IdlePolicyTest {

    private static final long NOW = TimeUnit.DAYS.toMicros(20_000);

    @ParameterizedTest
    @CsvSource({
        "report-*, report-1, true",
        "report-*, report-, true",
        "report-*, report, false",
        "report-*, a-report-1, false",
        "*-report, a-report, true",
        "a*b*c, abc, true",
        "a*b*c, a..b..c, true",
        "a*b*c, acb, false",
        "*, x, true",
        "a.c, abc, false",
        "[a], [a], true",
        "[a], a, false",
        "a\\Eb*, a\\Eb, true",
    })
    @DisplayName("a pattern fits with '*' for anything, and all else for itself")
    void patterns(String pattern, String name, boolean fits) {
        IdlePolicy policy = IdlePolicy.USUAL.with(pattern, Duration.ofHours(1));
        long twoHoursOld = Tokens.floor(NOW - TimeUnit.HOURS.toMicros(2));
        assertThat(policy.isOver(new ResourceName(name), twoHoursOld, NOW)).isEqualTo(fits);
    }

    @Test
    @DisplayName("is said by the first pattern that fits, and for the others it is a day")
    void firstCounts() {
        IdlePolicy policy = IdlePolicy.USUAL
                .with("keep-*", ChronoUnit.FOREVER.getDuration())
                .with("*-1", Duration.ofMinutes(1));
        long aDay = Tokens.floor(NOW - TimeUnit.DAYS.toMicros(1));
        long twoMinutes = Tokens.floor(NOW - TimeUnit.MINUTES.toMicros(2));
        assertThat(policy.isOver(new ResourceName("keep-1"), 1, NOW)).isFalse();
        assertThat(policy.isOver(new ResourceName("x-1"), twoMinutes, NOW)).isTrue();
        assertThat(policy.isOver(new ResourceName("x-2"), twoMinutes, NOW)).isFalse();
        assertThat(policy.isOver(new ResourceName("x-2"), aDay - 1, NOW)).isTrue();
        assertThat(policy.isOver(new ResourceName("x-2"), aDay, NOW)).isFalse();
        assertThat(policy.newest(NOW)).isEqualTo(NOW - TimeUnit.MINUTES.toMicros(1));
    }

    @Test
    @DisplayName("has sense: an empty pattern, and less than a minute, are refused")
    void sense() {
        assertThatIllegalArgumentException().isThrownBy(() -> IdlePolicy.USUAL.with("", Duration.ofDays(1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> IdlePolicy.USUAL.with("a\n*", Duration.ofSeconds(59)))
                .withMessageContainingAll("'a<U+000A>*'", "1 min", "59 s");
        assertThatIllegalArgumentException().isThrownBy(() -> IdlePolicy.USUAL.with("*", Duration.ofDays(-1)));
        long never =
                IdlePolicy.USUAL.with("*", Duration.ofSeconds(Long.MAX_VALUE)).rested(new ResourceName("a"), NOW);
        assertThat(never).isZero();
    }
}
