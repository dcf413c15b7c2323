package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The turn to clean up. */
abstract class TurnRules extends AdapterHarness {

    private static final Duration PAUSE = Duration.ofSeconds(2);

    /** Longer than a test waits. */
    private static final Duration LONG_PAUSE = Duration.ofMinutes(30);

    @Test
    @DisplayName("one client has the turn to clean up; the next one begins where it ended")
    void oneAtATime() {
        until("alice has the turn", () -> answer(alice.takeTurn(PAUSE)).isPresent());
        assertThat(answer(bob.takeTurn(LONG_PAUSE))).isEmpty();
        assertThat(answer(alice.takeTurn(LONG_PAUSE))).isEmpty();
        answer(alice.endTurn("at / \u00e4"));
        until("bob has the turn", () -> {
            Optional<String> cursor = answer(bob.takeTurn(PAUSE));
            assertThat(cursor)
                    .satisfiesAnyOf(
                            none -> assertThat(none).isEmpty(),
                            found -> assertThat(found).contains("at / \u00e4"));
            return cursor.isPresent();
        });
        answer(bob.endTurn(""));
    }
}
