package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
class NightlyReportTest {

    @Test
    void runsAndReleases(Holdfast holdfast, TestStore store) throws Exception {
        assertThat(new NightlyReport().run(holdfast, Duration.ZERO)).isTrue();
        store.assertNothingHeld();
    }

    @Test
    void givesUpWhenTaken(Holdfast holdfast, TestStore store) throws Exception {
        Hold other = store.take("nightly-report"); // by another process
        boolean hasRun = store.callWhileTimePasses(() -> new NightlyReport().run(holdfast, Duration.ofMinutes(10)));
        assertThat(hasRun).isFalse(); // ten minutes, at once
        other.close();
    }
}
