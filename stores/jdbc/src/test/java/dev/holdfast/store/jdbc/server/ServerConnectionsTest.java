package dev.holdfast.store.jdbc.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.store.jdbc.OnEachServer;
import dev.holdfast.store.jdbc.server.ServerConnections.Use;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

@Tag("server")
@Tag("postgres")
class ServerConnectionsTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);

    private ServerConnections connections;

    private Connection open(TestDatabase database) throws SQLException {
        connections = new ServerConnections(new DriverDataSource(database.newUrl()), ConnectionOrigin.OWN, now::get);
        return connections.get(Use.LOCKS);
    }

    @AfterEach
    void close() {
        if (connections != null) { // null if this database is not tested
            connections.close();
        }
    }

    private static void assertWorks(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            assertThat(statement.execute("SELECT 1")).isTrue();
        }
    }

    @OnEachServer
    void oneThatWasEndedWhileNobodyUsedItIsReplaced(TestDatabase database) throws Exception {
        Connection first = open(database);
        first.abort(Runnable::run);
        assertThat(connections.get(Use.LOCKS)).as("is not asked each time").isSameAs(first);
        now.addAndGet(ServerConnections.IDLE.toNanos() + 1);
        Connection second = connections.get(Use.LOCKS);
        assertThat(second).isNotSameAs(first);
        assertWorks(second);
    }

    @OnEachServer
    void oneThatIsWellIsKept(TestDatabase database) throws Exception {
        Connection first = open(database);
        now.addAndGet(ServerConnections.IDLE.toNanos() + 1);
        assertThat(connections.get(Use.LOCKS)).isSameAs(first);
        assertWorks(first);
    }

    @OnEachServer
    void readsForACallerWaitNoLongerThanTheCallerAndThoseAfterItAsLongAsEver(TestDatabase database) throws Exception {
        Connection only = open(database);
        only.setNetworkTimeout(Runnable::run, 40_000);
        assertThat(connections.getWithin(Use.LOCKS, TimeUnit.SECONDS.toNanos(41)))
                .isSameAs(only);
        assertThat(only.getNetworkTimeout()).isEqualTo(40_000);
        assertThat(connections.getWithin(Use.LOCKS, TimeUnit.SECONDS.toNanos(2)))
                .isSameAs(only);
        assertThat(only.getNetworkTimeout()).isEqualTo(2_000);
        assertThat(connections.getWithin(Use.LOCKS, TimeUnit.MILLISECONDS.toNanos(1_950)))
                .isSameAs(only);
        assertThat(only.getNetworkTimeout()).as("is not set for little").isEqualTo(2_000);
        assertThat(connections.getWithin(Use.LOCKS, TimeUnit.MILLISECONDS.toNanos(50)))
                .isSameAs(only);
        assertThat(only.getNetworkTimeout()).isEqualTo(50);
        assertThat(connections.getWithin(Use.LOCKS, TimeUnit.SECONDS.toNanos(2)))
                .isSameAs(only);
        assertThat(only.getNetworkTimeout())
                .as("a caller with more time is not cut off by that of another")
                .isEqualTo(2_000);
        assertThat(connections.get(Use.LOCKS)).isSameAs(only);
        assertThat(only.getNetworkTimeout()).isEqualTo(40_000);
    }

    @OnEachServer
    void callerHasNoneThatIsToBeMadeOrAskedFirst(TestDatabase database) throws Exception {
        Connection first = open(database);
        long second = TimeUnit.SECONDS.toNanos(1);
        assertThat(connections.getWithin(Use.SESSIONS, second)).isNull();
        assertThat(connections.getWithin(Use.LOCKS, 900_000)).as("in no time").isNull();
        assertThat(connections.getWithin(Use.LOCKS, -1)).isNull();
        now.addAndGet(ServerConnections.IDLE.toNanos() + 1);
        assertThat(connections.getWithin(Use.LOCKS, second)).isNull();
        assertThat(connections.get(Use.LOCKS)).isSameAs(first);
        assertThat(connections.getWithin(Use.LOCKS, second)).isSameAs(first);
        connections.discard(Use.LOCKS);
        assertThat(connections.getWithin(Use.LOCKS, second)).isNull();
    }
}
