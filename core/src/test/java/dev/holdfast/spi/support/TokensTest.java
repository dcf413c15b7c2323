package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.TokenBlock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TokensTest {

    private static final long NOW = 1_750_000_000_000_000L;

    @Test
    void freshCounterStartsAtTheClock() {
        TokenBlock block = Tokens.next(0, NOW, 10);
        assertThat(block.first()).isEqualTo(NOW / 1_000 * 1_024);
        assertThat(block.size()).isEqualTo(10);
    }

    @Test
    void floorIsTheClockTimesItsRateExactlyAndRises() {
        long last = Tokens.floor(NOW);
        for (long micros = NOW + 1; micros < NOW + 1_000; micros++) {
            long floor = Tokens.floor(micros);
            assertThat(floor)
                    .isGreaterThan(last)
                    .isEqualTo(Math.multiplyExact(micros / 125, 128L) + micros % 125 * 128 / 125);
            last = floor;
        }
        assertThat(Tokens.floor(NOW + 1_000_000) - Tokens.floor(NOW)).isEqualTo(1_024_000);
    }

    @Test
    void blocksRiseWhateverTheClockDoes() {
        SplittableRandom random = new SplittableRandom(7);
        long last = 0;
        long now = NOW;
        for (int i = 0; i < 100_000; i++) {
            now += random.nextInt(40_000) - 10_000;
            if (random.nextInt(1_000) == 0) {
                now -= 60_000_000;
            }
            int want = 1 + random.nextInt(TokenBlock.MAX_SIZE);
            TokenBlock block = Tokens.next(last, now, want);
            assertThat(block.first()).isGreaterThan(last).isGreaterThanOrEqualTo(Tokens.floor(now));
            assertThat(block.size()).isBetween(1L, (long) want);
            last = block.last();
        }
    }

    @Test
    void blockEndsNoFurtherAheadThanTheLead() {
        TokenBlock block = Tokens.next(0, NOW, TokenBlock.MAX_SIZE);
        assertThat(block.last()).isLessThanOrEqualTo(Tokens.floor(NOW + Tokens.LEAD_MICROS));
        TokenBlock next = Tokens.next(block.last(), NOW, TokenBlock.MAX_SIZE);
        assertThat(next.first()).isEqualTo(block.last() + 1);
        assertThat(next.last()).isLessThanOrEqualTo(Math.max(next.first(), Tokens.floor(NOW + Tokens.LEAD_MICROS)));
    }

    @Test
    void counterFarAheadOfTheClockGivesSmallBlocksAndNotSingleOnes() {
        long ahead = Tokens.floor(NOW + 2_000_000);
        assertThat(Tokens.next(ahead, NOW, TokenBlock.MAX_SIZE).size()).isEqualTo(Tokens.CATCH_UP_BLOCK);
        assertThat(Tokens.next(ahead, NOW, 3).size()).isEqualTo(3);
    }

    @Test
    void lastTokenIsGivenAndNoneAfterIt() {
        assertThat(Tokens.next(TokenBlock.MAX_TOKEN - 3, NOW, 100).last()).isEqualTo(TokenBlock.MAX_TOKEN);
        for (long spent : new long[] {TokenBlock.MAX_TOKEN, TokenBlock.MAX_TOKEN + 1, Long.MAX_VALUE, -1}) {
            assertThatThrownBy(() -> Tokens.next(spent, NOW, 1)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void tokensLastUntilTheYear2248() {
        Instant end = LocalDate.of(2248, 1, 1).atStartOfDay(ZoneOffset.UTC).toInstant();
        assertThat(Tokens.next(0, end.getEpochSecond() * 1_000_000, 1).last()).isLessThan(TokenBlock.MAX_TOKEN);
    }
}
