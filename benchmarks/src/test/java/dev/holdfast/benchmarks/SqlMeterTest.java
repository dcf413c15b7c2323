package dev.holdfast.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The meter of a database")
@Tag("server")
class SqlMeterTest {

    private static final Servers SERVERS = new Servers();

    @TempDir
    private Path place;

    @AfterAll
    static void endServers() {
        SERVERS.close();
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("counts statements, and transactions that wrote, but not itself")
    void countsStatementsAndCommits(Servers.Kind kind) throws SQLException {
        SERVERS.lend(kind, place);
        Database database = Database.at(kind, place);
        database.execute("CREATE TABLE t (a INT PRIMARY KEY)");
        try (Connection connection = database.connect();
                Meter meter = Meter.of(kind, place)) {
            Meter.Reading before = meter.read();
            for (int i = 0; i < 20; i++) {
                execute(connection, "INSERT INTO t VALUES (" + i + ")");
                execute(connection, "SELECT a FROM t");
            }
            Meter.Reading used = meter.read().since(before);
            assertThat(used.operations()).isEqualTo(40);
            // The server may write something of its own.
            assertThat(used.commits()).isBetween(20.0, 29.0);
            assertThat(meter.read().since(before).operations()).isEqualTo(40);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("counts the processor time of all the server's processes")
    void countsProcessorTime(Servers.Kind kind) throws SQLException {
        SERVERS.lend(kind, place);
        Database database = Database.at(kind, place);
        try (Connection connection = database.connect();
                Meter meter = Meter.of(kind, place)) {
            Meter.Reading before = meter.read();
            long begin = System.nanoTime();
            while (meter.read().since(before).cpuNanos() < 50e6 && System.nanoTime() - begin < 60e9) {
                execute(connection, "SELECT 1");
            }
            double used = meter.read().since(before).cpuNanos();
            assertThat(used).isGreaterThanOrEqualTo(50e6);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL", "MARIADB"})
    @DisplayName("samples what clients send")
    void samples(Servers.Kind kind) throws SQLException {
        SERVERS.lend(kind, place);
        Database database = Database.at(kind, place);
        try (Connection connection = database.connect();
                Meter meter = Meter.of(kind, place)) {
            CompletableFuture<Meter.Sample> seen =
                    CompletableFuture.supplyAsync(() -> meter.sample(Duration.ofMillis(300)));
            long sent = 0;
            while (!seen.isDone()) {
                execute(connection, "SELECT 1");
                sent++;
            }
            assertThat(seen.join().commands()).isPositive().isLessThanOrEqualTo(sent);
            assertThat(seen.join().inner()).isZero();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
