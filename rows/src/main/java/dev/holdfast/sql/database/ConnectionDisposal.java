package dev.holdfast.sql.database;

import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Disposal of connections in such a way that their pools notice: the pool replaces a discarded connection when it is
 * returned, and does not lend it again. Classes of pools are known by their names here, so that none of them is needed.
 */
public final class ConnectionDisposal {

    private static final String TOMCAT = "org.apache.tomcat.jdbc.pool.PooledConnection";
    private static final String AGROAL = "io.agroal.pool.wrapper.ConnectionWrapper";

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionDisposal.class);

    private ConnectionDisposal() {}

    /** Ends a connection and closes it, also where it is one of a pool, which does not lend it again. */
    public static void discard(@Nullable Connection connection) {
        if (connection == null) {
            return;
        }
        try {
            evict(connection);
        } catch (SQLException e) {
            LOG.debug("a connection was discarded", e);
        } catch (RuntimeException | Error e) {
            LOG.error("a connection could not be discarded in order", e);
        }
        close(connection);
    }

    /** Closes a connection, or returns it to its pool, whatever comes of that. */
    public static void close(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                LOG.debug("a connection could not be closed in order", e);
            } catch (RuntimeException | Error e) {
                LOG.error("a connection could not be closed in order", e);
            }
        }
    }

    /** Ends a connection, whoever waits for an answer on it; it still has to be closed. */
    public static void abort(@Nullable Connection connection) {
        if (connection != null) {
            try {
                abortBare(connection);
            } catch (SQLException | RuntimeException e) {
                LOG.debug("a connection could not be ended", e);
            }
        }
    }

    /** @throws SQLException since the connection has ended */
    private static void evict(Connection connection) throws SQLException {
        abortBare(connection);
        // HikariCP and c3p0 notice by the failure of a call, DBCP2 by itself. The others have to be told.
        try {
            if (connection.getClass().getName().equals(AGROAL)) {
                Object handler = connection.getClass().getMethod("getHandler").invoke(connection);
                handler.getClass().getMethod("setFlushOnly").invoke(handler);
            }
            discardForTomcat(connection);
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException("The pool does not let a connection be discarded", e);
        }
        connection.createStatement().close();
    }

    private static void abortBare(Connection connection) throws SQLException {
        // Not the pool's own, of which c3p0 and Agroal lose the place in the pool once it is aborted, and Agroal ends
        // nothing.
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
            return; // it is of another pool, or of none
        }
    }
}
