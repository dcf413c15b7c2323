package dev.holdfast.store.sqlite;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * How a file is used.
 *
 * @param synchronous how hard a commit is
 * @param patience how long a trip waits for a database that others keep busy
 * @param pragmas what is set on the connection besides; for tests
 * @param between what stands between the store and the connection; for tests
 */
record SqliteOptions(
        SqliteStore.Synchronous synchronous,
        Duration patience,
        List<String> pragmas,
        UnaryOperator<Connection> between) {}
