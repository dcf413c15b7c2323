package dev.holdfast.benchmarks.server;

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
            Meter.Reading used = new Meter.Reading(0, Double.MAX_VALUE, 0);
            // The server may write something of its own, the more of it the longer this takes.
            for (int attempt = 0; attempt < 10 && used.commits() > 29; attempt++) {
                Meter.Reading before = meter.read();
                for (int i = 0; i < 20; i++) {
                    execute(connection, "INSERT INTO t VALUES (" + (20 * attempt + i) + ")");
                    execute(connection, "SELECT a FROM t");
                }
                used = meter.read().since(before);
                assertThat(used.operations()).isEqualTo(40);
                assertThat(meter.read().since(before).operations()).isEqualTo(40);
            }
            assertThat(used.commits()).isBetween(20.0, 29.0);
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
            Meter.Sample sample = new Meter.Sample(0, 0);
            long sent = 0;
            // A busy machine may have nothing sent in so short a time.
            for (int attempt = 0; attempt < 100 && sample.commands() == 0; attempt++) {
                CompletableFuture<Meter.Sample> seen =
                        CompletableFuture.supplyAsync(() -> meter.sample(Duration.ofMillis(300)));
                for (sent = 0; !seen.isDone(); sent++) {
                    execute(connection, "SELECT 1");
                }
                sample = seen.join();
            }
            assertThat(sample.commands()).isPositive().isLessThanOrEqualTo(sent);
            assertThat(sample.inner()).isZero();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
