package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A replica that lacks the newest grants and becomes the primary")
@Tag("mysql")
@Tag("server")
class PromotedReplicaTest {

    /** So long that no audit runs during a test without a reason. */
    private static final Duration TTL = Duration.ofMinutes(30);

    /** The servers, and the origin of the connections. */
    enum Kind {
        POSTGRESQL,
        POSTGRESQL_LENT,
        POSTGRESQL_POOLER,
        MARIADB,
        MARIADB_LENT;

        boolean isPostgres() {
            return this != MARIADB && this != MARIADB_LENT;
        }

        LocalSqlServer start() {
            return isPostgres() ? PostgresServer.start() : MariaDbOrMysql.start();
        }

        JdbcStore.Builder builder(TestSource source, HikariDataSource pool) {
            return switch (this) {
                case POSTGRESQL, MARIADB -> JdbcStore.builder(source).keepsConnections();
                case POSTGRESQL_POOLER -> JdbcStore.builder(source).sharesSessions();
                case POSTGRESQL_LENT, MARIADB_LENT -> JdbcStore.builder(pool);
            };
        }
    }

    /** Connects to the current primary. */
    private static final class Address extends TestSource {
        private volatile String primary;

        Address(String url) {
            super(url);
            primary = url;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return DriverManager.getConnection(primary);
        }
    }

    private static HikariDataSource pool(Address address) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(address);
        config.setMaximumPoolSize(4);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    private static Holdfast client(JdbcStore store) {
        return Holdfast.builder(store)
                .sessionTtl(TTL)
                .keepAliveEvery(Duration.ofMillis(500))
                .build();
    }

    /** A copy of a server at this moment, on another one that is not yet promoted or used. */
    private static LocalSqlServer replica(Kind kind, LocalSqlServer primary, String url) throws SQLException {
        if (primary instanceof PostgresServer postgres) {
            return postgres.laggingStandby();
        }
        LocalSqlServer replica = kind.start();
        try {
            String database = new TestSource(url).text("SELECT DATABASE()");
            replica.execute("CREATE DATABASE " + database);
            JdbcStore.builder(new TestSource(at(url, replica))).open().close();
            copySessions(url, at(url, replica));
        } catch (SQLException | RuntimeException | Error e) {
            replica.close();
            throw e;
        }
        return replica;
    }

    private static void copySessions(String from, String to) throws SQLException {
        try (Connection source = DriverManager.getConnection(from);
                Connection target = DriverManager.getConnection(to);
                PreparedStatement select = source.prepareStatement("SELECT * FROM holdfast_session");
                ResultSet row = select.executeQuery();
                PreparedStatement insert =
                        target.prepareStatement("INSERT INTO holdfast_session VALUES (?, ?, ?, ?, ?, ?)")) {
            while (row.next()) {
                for (int i = 1; i <= 6; i++) {
                    insert.setObject(i, row.getObject(i));
                }
                insert.executeUpdate();
            }
        }
    }

    private static String at(String url, LocalSqlServer server) {
        return url.replaceFirst("127\\.0\\.0\\.1:\\d+", "127.0.0.1:" + server.port());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @MostlyWaits
    @DisplayName("costs a holder its lock at once, and not after a ttl; what was replicated is kept")
    void holderIsTold(Kind kind) throws Exception {
        try (LocalSqlServer primary = kind.start()) {
            String url = primary.newDatabase();
            Address address = new Address(url);
            try (HikariDataSource pool = pool(address);
                    JdbcStore store = kind.builder(address, pool).open();
                    Holdfast client = client(store)) {
                Hold replicated = client.lock("replicated").acquire();
                if (!kind.isPostgres()) {
                    replicated.close(); // only sessions are copied
                }
                try (LocalSqlServer replica = replica(kind, primary, url)) {
                    Awaitility.await()
                            .atMost(120, TimeUnit.SECONDS)
                            .ignoreExceptions()
                            .until(() -> client.lock("connected").tryLock());
                    Hold hold = client.lock("newest").acquire();
                    primary.kill();
                    if (kind.isPostgres()) {
                        assertThat(new TestSource(at(url, replica)).text("SELECT pg_promote(true, 60)"))
                                .isEqualTo("t");
                    }
                    address.primary = at(url, replica);
                    try (JdbcStore second = JdbcStore.builder(new TestSource(address.primary))
                                    .open();
                            Holdfast other = client(second);
                            Hold taken = other.lock("newest").acquire()) {
                        assertThat(taken.isHeld()).isTrue();
                        Awaitility.await()
                                .pollInSameThread()
                                .atMost(120, TimeUnit.SECONDS)
                                .until(() -> !hold.isHeld());
                        if (kind.isPostgres()) {
                            assertThat(replicated.isHeld()).isTrue();
                            assertThat(other.lock("replicated").tryLock()).isFalse();
                        }
                        assertThat(client.lock("after").tryLock()).isTrue();
                    }
                }
            }
        }
    }
}
