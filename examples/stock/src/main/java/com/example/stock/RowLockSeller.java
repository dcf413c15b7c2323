package com.example.stock;

import dev.holdfast.sql.rows.RowLocks;
import dev.holdfast.sql.rows.TableRow;
import java.sql.Connection;
import java.time.Duration;
import javax.sql.DataSource;

/** Sells under a lock on the row of the product, which ends with the transaction and so needs no token. */
final class RowLockSeller extends Seller {

    private static final Duration MAX_WAIT = Duration.ofMinutes(1);

    private final DataSource database;
    private final RowLocks locks = RowLocks.usual();

    RowLockSeller(DataSource database) {
        this.database = database;
    }

    @Override
    boolean sellOne(String product) throws Exception {
        TableRow row = TableRow.of("stock", "product", product);
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            if (!locks.tryLock(connection, row)) {
                countConflict();
                locks.lock(connection, row, MAX_WAIT);
            }
            boolean sold = Shop.sellOne(connection, product);
            connection.commit();
            return sold;
        }
    }
}
