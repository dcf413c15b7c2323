package dev.holdfast.store.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverVersionTest {

    @ParameterizedTest
    @CsvSource({
        "6.1.10.RELEASE, 4.1.82.Final",
        "6.3.2.RELEASE, 4.1.107.Final",
        "7.0.0.RELEASE, 4.1.118.Final",
        "7.7.0.RELEASE, 4.1.118.Final",
    })
    void oneThatDoesNotWorkIsNamedWithWhatIsNeeded(String lettuce, String netty) {
        assertThatThrownBy(() -> DriverVersion.require(lettuce, netty))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.DENIED))
                .hasMessageContaining("Lettuce " + lettuce + " with Netty " + netty)
                .hasMessageContaining("need Lettuce 6.4 or newer");
    }

    @ParameterizedTest
    @CsvSource({
        "6.4.0.RELEASE, 4.1.107.Final",
        "6.8.1.RELEASE, 4.2.7.Final",
        "7.5.2.RELEASE, 4.2.13.Final",
        "10.0.0, 5.0.0",
        "of an unknown version, of an unknown version",
    })
    void othersAreTried(String lettuce, String netty) {
        assertThatCode(() -> DriverVersion.require(lettuce, netty)).doesNotThrowAnyException();
    }

    /** As happens on a thread of the driver, whose connection then fails. */
    @Test
    void aMissingClassIsNoServerThatCanNotBeReached() {
        StoreException told = Failures.ofOpening(
                new IllegalStateException(new NoClassDefFoundError("io/netty/channel/IoHandlerFactory")), "redis");
        assertThat(told.reason()).isEqualTo(StoreException.Reason.DENIED);
        assertThat(told)
                .hasMessageContaining("Lettuce " + DriverVersion.lettuce() + " with Netty " + DriverVersion.netty())
                .hasMessageContaining("IoHandlerFactory");
    }

    /** The build runs some tests again with other versions of the driver; these are what is tested then. */
    @Test
    @Tag("driver")
    void theVersionIsThatOfThisRun() {
        assertThat(DriverVersion.lettuce()).matches("\\d+\\.\\d+\\.\\d+.*");
        assertThat(DriverVersion.netty()).matches("4\\.\\d+\\.\\d+.*");
        String wanted = System.getProperty("holdfast.tests.lettuce", DriverVersion.lettuce());
        assertThat(DriverVersion.lettuce()).isEqualTo(wanted);
    }
}
