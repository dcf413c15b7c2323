package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.sqlite.process.HostIdentity;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * An open file that was verified to be ours.
 *
 * @param meta its metadata when it was opened
 * @param reserve its space for a full disk
 */
record SqliteDatabase(
        SqliteFile file,
        Connection connection,
        StatementCache statements,
        HostIdentity host,
        StoreClock clock,
        SqliteMeta meta,
        SqliteOptions options,
        DiskReserve reserve) {

    /** Whether every commit is on the disk before it is answered. */
    boolean flushesAlways() {
        return options.synchronous() == SqliteStore.Synchronous.FULL;
    }

    StoreException translated(SQLException failure, Effect effect) {
        return SqliteErrorCodes.translated(failure, effect, file.path());
    }
}
