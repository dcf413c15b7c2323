package com.example.testing;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.test.HoldfastExtension;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(HoldfastExtension.class)
class ReportTest {

    @Test
    void isRenewed(Holdfast holdfast, TestStore store) throws InterruptedException {
        try (Hold hold = holdfast.lock("report").acquire()) {
            store.advance(Duration.ofHours(1));
            Assertions.assertTrue(hold.isHeld());
        }
        store.assertNothingHeld();
    }

    @Test
    void isTaken(Holdfast holdfast, TestStore store) {
        try (Hold other = store.take("report")) {
            Assertions.assertTrue(holdfast.lock("report").tryAcquire().isEmpty());
            Assertions.assertTrue(other.isHeld());
        }
    }
}
