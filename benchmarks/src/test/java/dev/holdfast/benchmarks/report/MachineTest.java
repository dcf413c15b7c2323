package dev.holdfast.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What a page tells of where it was measured. */
class MachineTest {

    @Test
    @DisplayName("Each library is told with its version, wherever its jar keeps it")
    void versions() {
        assertThat(Machine.libraries())
                .isNotEmpty()
                .allSatisfy((name, version) -> assertThat(version).as(name).matches("\\d+\\.\\d+.*"));
    }

    @Test
    @DisplayName("What is in no jar has none")
    void withoutAJar() {
        assertThat(Machine.version(MachineTest.class)).isEqualTo("unknown");
        assertThat(Machine.version(String.class)).isEqualTo("unknown");
    }
}
