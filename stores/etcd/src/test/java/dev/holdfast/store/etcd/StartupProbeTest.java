package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StartupProbeTest {

    @ParameterizedTest
    @ValueSource(strings = {"3.4.0", "3.4.23", "3.4.30", "3.5.0-rc.1", "3.5.12"})
    void versionsThatEndRenewedLeases(String version) {
        assertThat(StartupProbe.endsRenewedLeases(version)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"3.4.31", "3.5.13", "3.5.16", "3.6.0", "3.10.1", "4.4.1", "", "unknown"})
    void versionsThatDoNotOrAreNotKnown(String version) {
        assertThat(StartupProbe.endsRenewedLeases(version)).isFalse();
    }
}
