package dev.holdfast.store.sqlite;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The settings of a file.
 *
 * @param synchronous how durable a commit is
 * @param busyTimeout how long a command waits for a busy database
 * @param pragmas further settings of the connection, for tests
 * @param between wraps the connection, for tests
 */
record SqliteOptions(
        SqliteStore.Synchronous synchronous,
        Duration busyTimeout,
        List<String> pragmas,
        UnaryOperator<Connection> between) {}
