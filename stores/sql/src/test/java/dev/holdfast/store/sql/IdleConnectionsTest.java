package dev.holdfast.store.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** After eight hours, as they come, MySQL and MariaDB end a connection that nobody uses. */
@DisplayName("Connections that the server ended for being idle")
@Tag("mysql")
@Tag("server")
class IdleConnectionsTest {

    private static final String OTHERS =
            "SELECT count(*) FROM information_schema.processlist" + " WHERE id <> CONNECTION_ID() AND user = 'root'";

    @Test
    @DisplayName("are replaced, and who is ready to wait does not notice")
    void areReplaced() throws Exception {
        try (LocalSqlServer server = MariaDbOrMysql.start("wait-timeout", "1");
                Holdfast client = Holdfast.builder(JdbcStore.builder(new UrlSource(server.url()))
                                .keepsConnections()
                                .open())
                        .sessionTtl(Duration.ofMinutes(2))
                        .build()) {
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
