package com.example.stock;

import dev.holdfast.Holdfast;
import java.util.Locale;
import javax.sql.DataSource;

/** A way to let each piece be sold once. */
enum Approach {
    /** A lease on the database that is written to, and its token. */
    LEASE_IN_DATABASE,
    /** A lease on Redis, and its token. */
    LEASE_IN_REDIS,
    /** A lock in the transaction. */
    ROW_LOCK,
    /** No lock: a version that is compared. */
    VERSION;

    Seller seller(DataSource database, Holdfast databaseLocks, Holdfast redisLocks) {
        return switch (this) {
            case LEASE_IN_DATABASE -> new LeaseSeller(databaseLocks, database);
            case LEASE_IN_REDIS -> new LeaseSeller(redisLocks, database);
            case ROW_LOCK -> new RowLockSeller(database);
            case VERSION -> new VersionSeller(database);
        };
    }

    /** The product that is sold this way. */
    String product() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
