package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.ErrorLog;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("What a driver throws when it closes a statement that has failed as was expected")
@Tag("server")
class FaultBehindAFailureTest {

    private static final String FAULT = "thrown by closing, behind a lock wait time-out";

    /** Once set, the next statement that fails also throws when it is closed. */
    private final AtomicBoolean isArmed = new AtomicBoolean();

    @Test
    @DisplayName("is logged once, and the lock is had when its row is free")
    void isLogged() throws Exception {
        String url = TestDatabase.MARIADB.newUrl();
        TestSource faulty = new TestSource(url) {
            @Override
            public Connection getConnection() throws SQLException {
                return faulty(Connection.class, super.getConnection(), new AtomicBoolean());
            }
        };
        try (Holdfast client = Holdfast.builder(
                                JdbcStore.builder(faulty).keepsConnections().open())
                        .sessionTtl(Duration.ofSeconds(60))
                        .build();
                Connection stranger = new TestSource(url).getConnection()) {
            client.lock("locked").acquire(Duration.ofSeconds(60)).close();
            stranger.setAutoCommit(false);
            TestSource.execute(stranger, "SELECT name FROM holdfast_resource WHERE name = X'6C6F636B6564' FOR UPDATE");
            isArmed.set(true);
            CompletableFuture<Hold> waiting =
                    client.lock("locked").acquireAsync().toCompletableFuture();
            Awaitility.await("the statement fails, and is closed")
                    .atMost(60, TimeUnit.SECONDS)
                    .until(() -> !isArmed.get());
            stranger.rollback();
            waiting.get(60, TimeUnit.SECONDS).close();
        }
        assertThat(ErrorLog.errors()).filteredOn(error -> error.isAbout(FAULT)).hasSize(1);
    }

    private <T> T faulty(Class<T> type, T real, AtomicBoolean hasFailed) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> called(real, method, arguments, hasFailed)));
    }

    private Object called(Object real, Method method, Object[] arguments, AtomicBoolean hasFailed) throws Throwable {
        try {
            Object result = method.invoke(real, arguments);
            if (method.getName().equals("close") && hasFailed.get() && isArmed.getAndSet(false)) {
                throw new Error(FAULT);
            } else if (result instanceof PreparedStatement statement) {
                return faulty(PreparedStatement.class, statement, new AtomicBoolean());
            } else if (result instanceof Statement statement) {
                return faulty(Statement.class, statement, new AtomicBoolean());
            }
            return result;
        } catch (InvocationTargetException e) {
            hasFailed.compareAndSet(false, method.getName().startsWith("execute"));
            throw e.getCause();
        }
    }
}
