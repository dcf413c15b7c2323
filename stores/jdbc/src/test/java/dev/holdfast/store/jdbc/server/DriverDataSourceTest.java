package dev.holdfast.store.jdbc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Driver;
import java.sql.DriverManager;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The driver of a database")
class DriverDataSourceTest {

    private static final String URL = "jdbc:postgresql://127.0.0.1:1/locks";

    @Test
    @DisplayName("is the one that is registered")
    void isTheRegisteredOne() throws Exception {
        Driver registered = DriverManager.getDriver(URL);
        List<Driver> all = DriverManager.drivers().toList();
        assertThat(DriverDataSource.driver(URL, all.stream())).containsSame(registered);
    }

    @Test
    @DisplayName("is found where none is registered, as on threads that the driver manager saw no driver from")
    void isFoundUnregistered() throws Exception {
        Driver found = DriverDataSource.driver(URL, Stream.empty()).orElseThrow();
        assertThat(found.acceptsURL(URL)).isTrue();
    }

    @Test
    @DisplayName("is missed where none serves the database")
    void isMissed() {
        assertThat(DriverDataSource.driver("jdbc:none://127.0.0.1:1/locks", DriverManager.drivers()))
                .isEmpty();
        assertThat(new DriverDataSource("jdbc:none://127.0.0.1:1/locks").hasDriver())
                .isFalse();
    }
}
