package com.example.stock;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.sql.rows.FenceGuard;
import java.sql.Connection;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Sells under a lock with a lease, on whatever store, and has the database refuse the token of a holder that has
 * outlived it.
 */
final class LeaseSeller extends Seller {

    private final Holdfast holdfast;
    private final DataSource database;
    private final FenceGuard guard = FenceGuard.usual();

    LeaseSeller(Holdfast holdfast, DataSource database) {
        this.holdfast = holdfast;
        this.database = database;
    }

    @Override
    boolean sellOne(String product) throws Exception {
        try (Hold hold = acquire(holdfast.lock("stock/" + product));
                Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            guard.check(connection, hold);
            boolean sold = Shop.sellOne(connection, product);
            connection.commit();
            return sold;
        }
    }

    private Hold acquire(DistributedLock lock) throws InterruptedException {
        Optional<Hold> free = lock.tryAcquire();
        if (free.isPresent()) {
            return free.get();
        }
        countConflict();
        return lock.acquire();
    }
}
