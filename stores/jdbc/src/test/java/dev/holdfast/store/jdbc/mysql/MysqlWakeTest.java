package dev.holdfast.store.jdbc.mysql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.ErrorLog;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.ledger.LedgerTransaction.Notification;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Waking another client of MariaDB or MySQL")
class MysqlWakeTest {

    private static final int NO_SUCH_THREAD = 1094;

    @Test
    @DisplayName("logs what the driver throws when it closes the statement of one that does not nap")
    void errorOnClosing() throws Exception {
        Error thrown = new Error("thrown by closing, after an expected failure");
        Statement kill = proxy(Statement.class, method -> {
            if (method.equals("close")) {
                throw thrown;
            }
            throw new SQLException("Unknown thread id", "HY000", NO_SUCH_THREAD);
        });
        StatementCache statements = new StatementCache(new SqlTemplates(Product.TEXTS, "", "holdfast_", "`"));
        statements.attach(proxy(Connection.class, method -> kill));
        ClaimRef claim = new ClaimRef(new ResourceName("x"), new SessionId("s1"), 1);
        new MysqlProduct(MysqlVariant.of("MariaDB", "11.4"), "0")
                .wake(statements, List.of(new Notification(7, new Signal.Changed(claim))));
        assertThat(ErrorLog.errors())
                .filteredOn(error -> error.isAbout(thrown.getMessage()))
                .hasSize(1);
    }

    private interface Answer {
        Object to(String method) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Answer answer) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, args) -> answer.to(method.getName())));
    }
}
