package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.StoreException;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.mysql.MysqlProduct;
import dev.holdfast.store.jdbc.postgres.PostgresProduct;
import dev.holdfast.store.jdbc.server.Product;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A server that takes no writes any more and leaves its connections open")
@Tag("mysql")
@Tag("server")
class ReadOnlyServersTest {

    /** The servers, and the origin of the connections. */
    enum Kind {
        POSTGRESQL,
        POSTGRESQL_LENT,
        MARIADB,
        MARIADB_LENT;

        boolean isPostgres() {
            return this == POSTGRESQL || this == POSTGRESQL_LENT;
        }

        boolean isLent() {
            return this == POSTGRESQL_LENT || this == MARIADB_LENT;
        }
    }

    /**
     * Connects to the former primary until {@link #promote}. It is one server, which rejects writes depending on the
     * user.
     */
    private static final class Failover extends TestSource {
        private final boolean isPostgres;
        private final String former;
        private final String promoted;
        private volatile boolean isOver;

        Failover(LocalSqlServer server, boolean isPostgres) throws SQLException {
            super(server.url());
            this.isPostgres = isPostgres;
            if (isPostgres) {
                former = url() + "&ApplicationName=former";
                promoted = url() + "&options=-c%20default_transaction_read_only=off";
            } else {
                former = url().replaceFirst("user=root", "user=former");
                promoted = url();
                for (String host : new String[] {"%", "localhost", "127.0.0.1"}) {
                    admin("CREATE USER former@'" + host + "'");
                    admin("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, INDEX, ALTER ON *.* TO former@'" + host + "'");
                }
            }
        }

        private void admin(String statement) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url())) {
                TestSource.execute(connection, statement);
            }
        }

        @Override
        public Connection getConnection() throws SQLException {
            return DriverManager.getConnection(isOver ? promoted : former);
        }

        /** Makes all servers read-only. */
        void demote() throws SQLException {
            if (isPostgres) {
                admin("ALTER SYSTEM SET default_transaction_read_only = on");
                admin("SELECT pg_reload_conf()");
            } else {
                admin("SET GLOBAL read_only = 1");
            }
        }

        /** Leads new connections to a writable server. */
        void promote() {
            isOver = true;
        }

        /** The number of connections to the former primary. */
        long left() {
            String count = isPostgres
                    ? "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'former'"
                    : "SELECT count(*) FROM information_schema.processlist WHERE user = 'former'";
            try (Connection connection = DriverManager.getConnection(url())) {
                return Long.parseLong(TestSource.text(connection, count));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static Holdfast client(JdbcStore store) {
        return Holdfast.builder(store)
                .sessionTtl(Duration.ofMinutes(10))
                .keepAliveEvery(Duration.ofMillis(200))
                .storeTimeout(Duration.ofSeconds(60))
                .build();
    }

    private static HikariDataSource pool(Failover source) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(4);
        return new HikariDataSource(config);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    @DisplayName(
            "is refused in words while there is no other, and left for the new primary without a restart; nothing is lost")
    void failover(Kind kind) throws Exception {
        try (LocalSqlServer server = kind.isPostgres() ? PostgresServer.start() : MariaDbOrMysql.start()) {
            Failover source = new Failover(server, kind.isPostgres());
            try (HikariDataSource pool = kind.isLent() ? pool(source) : null;
                    Holdfast client = client(
                            pool == null
                                    ? JdbcStore.builder(source)
                                            .keepsConnections()
                                            .open()
                                    : JdbcStore.builder(pool).listens(true).open());
                    Holdfast other = client(JdbcStore.builder(new TestSource(source.promoted))
                            .keepsConnections()
                            .open())) {
                Hold hold = client.lock("held").acquire();
                Hold others = other.lock("awaited").acquire();
                CompletableFuture<Boolean> waiting = Meanwhile.run(() -> {
                    try (Hold next = client.lock("awaited").acquire()) {
                        return next.isHeld();
                    }
                });
                Awaitility.await()
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> new TestSource(source.promoted)
                                .text("SELECT waiters FROM holdfast_resource WHERE waiters > 0")
                                .equals("1"));
                source.demote();
                Awaitility.await()
                        .pollInSameThread()
                        .atMost(60, TimeUnit.SECONDS)
                        .untilAsserted(() -> assertThatThrownBy(() -> acquire(client, "a"))
                                .isInstanceOf(StoreRefusedException.class)
                                .hasMessageContaining("connect to the primary"));
                assertThatThrownBy(() -> acquire(client, "b"))
                        .isInstanceOf(StoreRefusedException.class)
                        .hasMessageContaining("connect to the primary");
                source.promote();
                Awaitility.await()
                        .pollInSameThread()
                        .atMost(60, TimeUnit.SECONDS)
                        .ignoreExceptions()
                        .until(() -> acquire(client, "a"));
                // No connection for locks, sessions or notifications stays with the former primary.
                Awaitility.await()
                        .pollInSameThread()
                        .atMost(60, TimeUnit.SECONDS)
                        .until(() -> source.left() == 0 || pool != null);
                assertThat(hold.isHeld()).isTrue();
                others.close();
                assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();
                for (int i = 0; i < 20; i++) {
                    assertThat(acquire(client, "b")).isTrue();
                }
                hold.close();
            }
        }
    }

    private static boolean acquire(Holdfast client, String name) throws InterruptedException {
        try (Hold hold = client.lock(name).acquire()) {
            return hold.isHeld();
        }
    }

    @Test
    @DisplayName("is told by each code that servers have for that, and no other")
    void codes() {
        PostgresProduct postgres = new PostgresProduct("PostgreSQL", PostgresProduct.CLOCK, "holdfast_", true);
        MysqlProduct mysql = new MysqlProduct(MysqlVariant.of("MySQL", "8.0"), MysqlProduct.CLOCK);
        expectReadOnly(postgres, new SQLException("cannot execute UPDATE in a read-only transaction", "25006"));
        for (int code : new int[] {1290, 1792, 1836}) {
            expectReadOnly(mysql, new SQLException("read-only", "HY000", code));
        }
        assertThat(postgres.isReadOnly(new SQLException("denied", "42501"))).isFalse();
        assertThat(mysql.isReadOnly(new SQLException("a lock wait", "HY000", 1205)))
                .isFalse();
    }

    private static void expectReadOnly(Product product, SQLException failure) {
        assertThat(product.isReadOnly(failure)).isTrue();
        StoreException exception = product.translated(failure, StoreException.Effect.NONE);
        assertThat(exception.reason()).isEqualTo(StoreException.Reason.DENIED);
        assertThat(exception).hasMessageContaining("connect to the primary");
    }
}
