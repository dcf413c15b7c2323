package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A trial with short times")
class SlowMachineTest {

    /** No machine is prompt enough for this. */
    private static final Duration NONE = Duration.ZERO;

    /** No machine is too slow for this. */
    private static final Duration LONG = Duration.ofDays(1);

    private final List<Integer> factors = new ArrayList<>();

    @Test
    @DisplayName("is repeated with longer ones on a slow machine, whether a check failed or a call")
    void isRepeated() throws Exception {
        SlowMachine.copes(NONE, factor -> {
            factors.add(factor);
            switch (factor) {
                case 1 -> throw new IllegalStateException("no answer");
                case 4 -> throw new AssertionError("too late");
                default -> {}
            }
        });
        assertThat(factors).containsExactly(1, 4, 16);
    }

    @Test
    @DisplayName("fails in the end")
    void failsInTheEnd() {
        assertThatThrownBy(() -> SlowMachine.copes(NONE, factor -> {
                    factors.add(factor);
                    throw new AssertionError("with " + factor);
                }))
                .hasMessage("with 16");
        assertThat(factors).containsExactly(1, 4, 16);
    }

    @Test
    @DisplayName("fails at once on a machine that is prompt")
    void failsAtOnce() {
        assertThatThrownBy(() -> SlowMachine.copes(LONG, factor -> {
                    throw new IllegalStateException("with " + factor);
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("with 1");
    }
}
