package dev.holdfast.sql.database;

import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Disposes of connections so that their pools notice: a pool replaces a discarded connection when it is returned, and
 * does not lend it again. Pool classes are referred to by name, so that none of them is required.
 */
public final class ConnectionDisposal {

    private static final String TOMCAT = "org.apache.tomcat.jdbc.pool.PooledConnection";
    private static final String AGROAL = "io.agroal.pool.wrapper.ConnectionWrapper";

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionDisposal.class);

    private ConnectionDisposal() {}

    /** Ends a connection and closes it, even a pooled one, which its pool does not lend again. */
    public static void discard(@Nullable Connection connection) {
        if (connection == null) {
            return;
        }
        try {
            evict(connection);
        } catch (SQLException e) {
            LOG.debug("a connection was discarded", e);
        } catch (RuntimeException | Error e) {
            LOG.error("a connection could not be discarded cleanly", e);
        }
        close(connection);
    }

    /** Closes a connection or returns it to its pool; failures are only logged. */
    public static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                LOG.debug("a connection could not be closed cleanly", e);
            } catch (RuntimeException | Error e) {
                LOG.error("a connection could not be closed cleanly", e);
            }
        }
    }

    /** Ends a connection even while a thread waits for an answer on it; it must still be closed. */
    public static void abort(@Nullable Connection connection) {
        if (connection != null) {
            try {
                abortBare(connection);
            } catch (SQLException | RuntimeException e) {
                LOG.debug("a connection could not be terminated", e);
            }
        }
    }

    /** @throws SQLException because the connection has ended */
    private static void evict(Connection connection) throws SQLException {
        abortBare(connection);
        // HikariCP and c3p0 notice when a call fails, and DBCP2 when the connection is returned. The others must be
        // notified.
        try {
            if (connection.getClass().getName().equals(AGROAL)) {
                Object handler = connection.getClass().getMethod("getHandler").invoke(connection);
                handler.getClass().getMethod("setFlushOnly").invoke(handler);
            }
            discardForTomcat(connection);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("The pool does not support discarding a connection", e);
        }
        connection.createStatement().close();
    }

    private static void abortBare(Connection connection) throws SQLException {
        // Not the pool's wrapper: after its abort, c3p0 and Agroal lose the place in the pool, and Agroal ends nothing.
        connection.unwrap(Connection.class).abort(Runnable::run);
    }

    private static void discardForTomcat(Connection connection)
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        try {
            ClassLoader loader = connection.getClass().getClassLoader();
            Class<?> type =
                    Class.forName(TOMCAT, false, loader == null ? ConnectionDisposal.class.getClassLoader() : loader);
            type.getMethod("setDiscarded", boolean.class).invoke(connection.unwrap(type), true);
        } catch (ClassNotFoundException | LinkageError | SQLException e) {
            return; // from another pool, or from none
        }
    }
}
