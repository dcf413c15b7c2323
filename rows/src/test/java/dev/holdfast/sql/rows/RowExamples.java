package dev.holdfast.sql.rows;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/** The examples of the pages on row locks, versions and the fence guard. */
final class RowExamples {

    private final DataSource dataSource;
    private final RowLocks rowLocks = RowLocks.usual();

    RowExamples(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** The writes of the examples. */
    interface Shop {
        void writeInvoices(Connection connection) throws SQLException;

        void transfer(Connection connection, BigDecimal amount) throws SQLException;

        BigDecimal balance(Connection connection, long account) throws SQLException;

        void setBalance(Connection connection, long account, BigDecimal balance) throws SQLException;
    }

    void tables() throws SQLException {
        RowTables.usual().createIfMissing(dataSource);
    }

    void named(Shop shop) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            rowLocks.lock(connection, "invoice-run", Duration.ofSeconds(2));
            shop.writeInvoices(connection);
            connection.commit(); // and the lock is free
        }
    }

    void tried(Connection connection, Shop shop) throws SQLException {
        if (rowLocks.tryLock(connection, "invoice-run")) {
            shop.writeInvoices(connection);
        }
    }

    void theirs(Connection connection, Shop shop, BigDecimal amount) throws SQLException {
        // The same order everywhere, so that transactions never deadlock.
        rowLocks.lock(connection, TableRow.of("account", "id", 42), Duration.ofMillis(500));
        rowLocks.lock(connection, TableRow.of("account", "id", 43), Duration.ofMillis(500));
        shop.transfer(connection, amount);
    }

    void elsewhere() throws SQLException {
        RowTables tables = RowTables.usual().inSchema("locks").withPrefix("shop_");
        tables.check(dataSource); // throws if they are not there; makes nothing
        RowLocks locks = RowLocks.in(tables);
        assert locks != null;
    }

    BigDecimal versioned(Shop shop, BigDecimal amount) throws SQLException {
        Versioned account = Versioned.row(TableRow.of("account", "id", 42), "version");

        BigDecimal balance = account.update(dataSource, (connection, version) -> {
            BigDecimal sum = shop.balance(connection, 42).add(amount);
            shop.setBalance(connection, 42, sum);
            return sum;
        });
        return balance;
    }

    void overTwoRequests(Shop shop, BigDecimal amount) throws SQLException {
        Versioned account = Versioned.row(TableRow.of("account", "id", 42), "version");
        RowVersion shown;
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            shown = account.read(connection); // goes to the browser with the form
            connection.commit();
        }
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            shop.setBalance(connection, 42, amount);
            account.advance(connection, shown); // throws if someone else has saved meanwhile
            connection.commit();
        }
    }

    static void guarded(Holdfast holdfast, DataSource dataSource, Shop shop) throws Exception {
        FenceGuard guard = FenceGuard.usual();

        try (Hold hold = holdfast.lock("invoice-run").acquire();
                Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            guard.check(connection, hold); // throws if a later holder has been here
            shop.writeInvoices(connection);
            connection.commit();
        }
    }

    static void byMessage(
            Connection connection, FenceGuard guard, long tokenOfMessage, String holdIdOfMessage, Shop shop)
            throws SQLException {
        guard.check(connection, "invoice-run", tokenOfMessage, holdIdOfMessage);
        shop.writeInvoices(connection);
        connection.commit();
    }
}
