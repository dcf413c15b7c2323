package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {

    private final AdaptiveSpin spin = new AdaptiveSpin();

    /** How many times are left out before the next. */
    private int leftOut() {
        int times = 0;
        while (!spin.isWorthwhile()) {
            times++;
        }
        return times;
    }

    @Test
    void looksOutAsLongAsItPays() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(spin.isWorthwhile()).isTrue();
            spin.paidOff();
        }
    }

    @Test
    void leavesOutTwiceAsManyAfterEachTimeInVainUpToALimit() {
        int[] times = new int[13];
        for (int i = 0; i < times.length; i++) {
            spin.wasInVain();
            times[i] = leftOut();
        }
        assertThat(times).containsExactly(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024);
    }

    @Test
    void oneInVainAmongManyThatPaidCostsLittle() {
        for (int i = 0; i < 20; i++) {
            spin.wasInVain();
            leftOut();
        }
        for (int i = 0; i < 4 * 10; i++) {
            spin.paidOff();
        }
        spin.wasInVain();
        assertThat(leftOut()).isEqualTo(1);
    }

    @Test
    void whatPaysHalfOfTheTimeIsAlmostNeverDone() {
        int lookedOut = 0;
        for (int i = 0; i < 100_000; i++) {
            if (spin.isWorthwhile()) {
                lookedOut++;
                if (i % 2 == 0) {
                    spin.paidOff();
                } else {
                    spin.wasInVain();
                }
            }
        }
        assertThat(lookedOut).isBetween(50, 1_000);
    }
}
