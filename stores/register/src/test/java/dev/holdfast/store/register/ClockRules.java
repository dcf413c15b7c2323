package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What adapters know of the server's clock. */
abstract class ClockRules extends AdapterHarness {

    private void assumeThatItTellsTheTime() {
        assumeThat(alice.traits().clock()).as("the clock").isEqualTo(RegisterTraits.Clock.WALL);
    }

    @Test
    @DisplayName("a server that tells no time has none")
    void none() {
        assumeThat(alice.traits().clock()).as("the clock").isEqualTo(RegisterTraits.Clock.REVISIONS);
        assertThat(alice.time()).isEqualTo(ServerTime.NONE);
    }

    @Test
    @DisplayName("the clock is known before anything is asked, and is between the bounds of each client")
    void bounds() {
        assumeThatItTellsTheTime();
        for (int i = 0; i < 100; i++) {
            ServerTime first = alice.time();
            ServerTime second = bob.time();
            ServerTime third = alice.time();
            assertThat(first.earliestMicros()).isPositive().isLessThanOrEqualTo(second.latestMicros());
            assertThat(second.earliestMicros()).isLessThanOrEqualTo(third.latestMicros());
        }
    }

    @Test
    @DisplayName("the clock goes on between answers, and is between the bounds after each write")
    void writes() {
        assumeThatItTellsTheTime();
        RecordVersion version = present(named("clock"));
        for (int i = 0; i < 10; i++) {
            long before = server().nanoTime();
            ServerTime first = alice.time();
            version = written(bob, put(named("clock"), version, "state " + i));
            until("some time has passed", () -> server().nanoTime() - before > 20_000_000);
            ServerTime second = bob.time();
            long micros = (server().nanoTime() - before) / 1_000;
            assertThat(second.latestMicros()).isGreaterThanOrEqualTo(first.earliestMicros() + 19_000);
            assertThat(second.earliestMicros()).isLessThanOrEqualTo(first.latestMicros() + micros + 1_000);
        }
        assertThat(answer(bob.read(named("clock"))).state().map(AdapterHarness::text))
                .isEqualTo(Optional.of("state 9"));
    }
}
