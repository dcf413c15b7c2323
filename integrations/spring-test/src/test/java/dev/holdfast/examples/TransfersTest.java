package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spring.test.EmbeddedHoldfast;
import dev.holdfast.test.TestStore;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
@EmbeddedHoldfast
class TransfersTest {

    @Autowired
    Transfers transfers;

    @Test
    void waitsForItsTurn(TestStore store) throws Exception {
        Hold other = store.take("account/7"); // by another process
        store.after(Duration.ofMinutes(3), other::close);
        store.runWhileTimePasses(() -> transfers.withdraw("7", () -> store.assertHeld("account/7")));
        store.assertNothingHeld();
    }

    @Test
    void writesNothingAfterALoss(TestStore store) {
        Runnable pause = () -> store.pause(Duration.ofMinutes(1)); // longer than the lease
        assertThatThrownBy(() -> transfers.withdraw("7", pause)).isInstanceOf(LockLostException.class);
        assertThat(transfers.written()).isEmpty();
    }

    @Test
    void givesUpWhenTaken(TestStore store) {
        Hold other = store.take("account/7");
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> transfers.withdraw("7", () -> {})))
                .isInstanceOf(LockWaitTimeoutException.class);
        assertThat(other.isHeld()).isTrue();
    }

    @Test
    void saysThatTheStoreIsSilent(TestStore store) {
        store.goSilent();
        assertThatThrownBy(() -> store.runWhileTimePasses(() -> transfers.withdraw("7", () -> {})))
                .isInstanceOf(StoreUnavailableException.class);
        assertThat(transfers.written()).isEmpty();
    }

    @AfterEach
    void forget() {
        transfers.written().clear();
    }

    /** Other tests that run on the same class path have a pool, but there is no database. */
    @SpringBootApplication(excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
    static class Application {}
}
