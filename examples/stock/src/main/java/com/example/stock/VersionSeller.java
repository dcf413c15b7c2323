package com.example.stock;

import dev.holdfast.sql.rows.TableRow;
import dev.holdfast.sql.rows.Versioned;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Sells without any lock, and again if the version of the row says that somebody else has sold meanwhile. */
final class VersionSeller extends Seller {

    /** Many, since all want the same row all the time; the ten of the default are for rows that few want. */
    private static final int ATTEMPTS = 1_000;

    private final DataSource database;

    VersionSeller(DataSource database) {
        this.database = database;
    }

    @Override
    boolean sellOne(String product) throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        return Versioned.row(TableRow.of("stock", "product", product), "version")
                .withAttempts(ATTEMPTS)
                .update(database, (connection, version) -> {
                    if (attempts.incrementAndGet() > 1) {
                        countConflict();
                    }
                    return Shop.sellOne(connection, product);
                });
    }
}
