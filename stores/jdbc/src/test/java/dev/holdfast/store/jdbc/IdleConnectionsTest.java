package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** By default, MySQL and MariaDB end a connection that was idle for eight hours. */
@DisplayName("Connections that the server ended for being idle")
@Tag("mysql")
@Tag("server")
class IdleConnectionsTest {

    private static final String OTHERS =
            "SELECT count(*) FROM information_schema.processlist" + " WHERE id <> CONNECTION_ID() AND user = 'root'";

    @Test
    @DisplayName("are replaced, and who is ready to wait does not notice")
    void areReplaced() throws Exception {
        try (LocalSqlServer server = MariaDbOrMysql.start();
                Holdfast client = Holdfast.builder(JdbcStore.builder(new DriverDataSource(server.url()))
                                .keepsConnections()
                                .open())
                        .sessionTtl(Duration.ofMinutes(2))
                        .build()) {
            // Only now, not while the client creates its tables.
            server.execute("SET GLOBAL wait_timeout = 1");
            endOthers(server);
            long token = 0;
            for (int i = 0; i < 3; i++) {
                try (Hold hold = client.lock("a").acquire()) {
                    assertThat(hold.fencingToken()).isGreaterThan(token);
                    token = hold.fencingToken();
                    untilAllAreGone(server);
                    client.lock("b").acquire(Duration.ofSeconds(60)).close();
                }
                untilAllAreGone(server);
            }
        }
    }

    /** Ends earlier connections, which have their own limit. */
    private static void endOthers(LocalSqlServer server) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            TestSource.execute(connection, "SET SESSION wait_timeout = 600");
            List<Long> ids = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery(OTHERS.replace("count(*)", "id"))) {
                while (rows.next()) {
                    ids.add(rows.getLong(1));
                }
            }
            for (long id : ids) {
                TestSource.execute(connection, "KILL CONNECTION " + id);
            }
        }
    }

    private static void untilAllAreGone(LocalSqlServer server) {
        Awaitility.await()
                .atMost(60, TimeUnit.SECONDS)
                .ignoreException(SQLException.class) // ours, too, may have been idle for too long
                .until(() -> others(server) == 0);
    }

    private static long others(LocalSqlServer server) throws SQLException {
        try (Connection connection = server.connect()) {
            return Long.parseLong(TestSource.text(connection, OTHERS));
        }
    }
}
