package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.MariaDbServer;
import dev.holdfast.servers.sql.StatementLog;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("On MariaDB a hand-over")
@Tag("server")
@Tag("mysql")
class MariaDbHandOverTest extends HandOverRules {

    private static final String COMPOUND = "BEGIN NOT ATOMIC";

    MariaDbHandOverTest() {
        super(MariaDbServer.shared().newDatabase());
    }

    @Override
    boolean isOfListener(String text) {
        return !text.contains("holdfast_") || text.contains("JSON_TABLE");
    }

    @Override
    boolean tellsTokens() {
        return false;
    }

    /** A server that does not execute the statement, but fails. */
    private StatementLog failing(SQLException failure) {
        return failing(failure, false);
    }

    /** @param isStuck whether the transaction can't be rolled back either, while the connection lives */
    private StatementLog failing(SQLException failure, boolean isStuck) {
        return new StatementLog(url) {
            @Override
            public Object call(Connection connection, String text, Call call) throws Throwable {
                if (isStuck && text.equals("ROLLBACK")) {
                    throw new SQLException("No answer");
                }
                if (text.contains(COMPOUND)) {
                    TestSource.execute(connection, "START TRANSACTION");
                    TestSource.execute(connection, "UPDATE holdfast_resource SET waiters = 77");
                    throw failure;
                }
                return super.call(connection, text, call);
            }
        };
    }

    @Test
    @DisplayName("is a transaction of several statements while another transaction has its row")
    void lockedRow() throws Exception {
        try (JdbcStore store = open(log);
                Connection stranger = new TestSource(url).begin()) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            TestSource.execute(stranger, "SELECT 1 FROM holdfast_resource FOR UPDATE");
            var released = send(store, new Release(new ClaimRef(NAME, first, 1)));
            stranger.rollback();
            assertThat(released.get(1, TimeUnit.MINUTES)).isInstanceOf(Reply.Released.class);
            assertThat(answer(store, acquire(second, 1), Reply.Granted.class)).isNotNull();
        }
    }

    @Test
    @DisplayName("is a transaction of several statements on a server that does not know the statement")
    void unknownStatement() throws Exception {
        StatementLog old = failing(new SQLException("You have an error in your SQL syntax", "42000", 1064));
        try (JdbcStore store = open(old)) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, giveWay(first, 1, 2), Reply.Queued.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Granted.class).awaited())
                    .isTrue();
            assertThat(answer(store, new Release(new ClaimRef(NAME, second, 1)), Reply.Released.class))
                    .isNotNull();
            assertThat(log.text("SELECT waiters FROM holdfast_resource")).isEqualTo("0");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("that ends half-way, with an error that the server does not handle, changes nothing,"
            + " even if it can't be rolled back")
    void killed(boolean isStuck) throws Exception {
        StatementLog killing = failing(new SQLException("Query execution was interrupted", "70100", 1317), isStuck);
        try (JdbcStore store = open(killing)) {
            SessionId first = session(store);
            SessionId second = session(store);
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(answer(store, acquire(second, 1), Reply.Queued.class)).isNotNull();
            assertThatThrownBy(() -> answer(store, giveWay(first, 1, 2), Reply.class))
                    .hasMessageContaining("interrupted");
            // Also once the next statement has begun another transaction on the connection.
            assertThat(answer(store, acquire(first, 1), Reply.Granted.class)).isNotNull();
            assertThat(log.text("SELECT waiters FROM holdfast_resource")).isEqualTo("1");
        }
    }
}
