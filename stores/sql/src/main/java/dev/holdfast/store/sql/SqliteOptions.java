package dev.holdfast.store.sql;

import java.time.Duration;
import java.util.List;

/**
 * How a file is used.
 *
 * @param synchronous how hard a commit is
 * @param patience how long a trip waits for a database that others keep busy
 * @param pragmas what is set on the connection besides; for tests
 */
record SqliteOptions(SqliteStore.Synchronous synchronous, Duration patience, List<String> pragmas) {}
