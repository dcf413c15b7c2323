package dev.holdfast.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {

    private static final long TOOK = 200;

    private final AdaptiveSpin spin = new AdaptiveSpin();
    private long now = Long.MAX_VALUE - 100;

    /** How long it rests from now on, in times that looking out took. */
    private long rest() {
        long begun = now;
        while (!spin.isWorthwhile(now)) {
            now += TOOK;
        }
        return (now - begun) / TOOK;
    }

    private void inVain() {
        spin.wasInVain(now, TOOK);
    }

    @Test
    void looksOutAsLongAsItPays() {
        for (int i = 0; i < 10_000; i++) {
            assertThat(spin.isWorthwhile(now++)).isTrue();
            spin.paidOff();
        }
    }

    @Test
    void restsTwiceAsLongAfterEachTimeInVainUpToALimit() {
        long[] rests = new long[7];
        for (int i = 0; i < rests.length; i++) {
            inVain();
            rests[i] = rest();
        }
        assertThat(rests).containsExactly(64, 128, 256, 512, 1024, 1024, 1024);
    }

    @Test
    void restsInProportionToTheTimeLost() {
        spin.wasInVain(now, 20 * TOOK);
        assertThat(rest()).isEqualTo(20 * 64);
    }

    @Test
    void oneInVainAmongManyThatPaidCostsLittle() {
        for (int i = 0; i < 20; i++) {
            inVain();
            rest();
        }
        for (int i = 0; i < 4 * 10; i++) {
            spin.paidOff();
        }
        inVain();
        assertThat(rest()).isEqualTo(64);
    }

    @Test
    void whatPaysHalfOfTheTimeIsAlmostNeverDone() {
        long begun = now;
        long lost = 0;
        for (int i = 0; i < 100_000; i++) {
            if (spin.isWorthwhile(now)) {
                if (i % 2 == 0) {
                    spin.paidOff();
                } else {
                    lost += TOOK;
                    now += TOOK;
                    inVain();
                }
            }
            now += TOOK / 2;
        }
        assertThat(lost).isBetween((now - begun) / 1_000, (now - begun) / 50);
    }
}
