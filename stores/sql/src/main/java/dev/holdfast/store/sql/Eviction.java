package dev.holdfast.store.sql;

import java.lang.reflect.InvocationTargetException;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * Ends a connection so that its pool notices: the pool replaces it when it is returned, and does not lend it again.
 * Classes of pools are known by their names here, so that none of them is needed.
 */
final class Eviction {

    private static final String TOMCAT = "org.apache.tomcat.jdbc.pool.PooledConnection";
    private static final String AGROAL = "io.agroal.pool.wrapper.ConnectionWrapper";

    private Eviction() {}

    /**
     * Ends a connection, whoever waits for an answer on it. It still has to be closed, which returns it to its pool.
     *
     * @throws SQLException since the connection has ended
     */
    static void evict(Connection connection) throws SQLException {
        abort(connection);
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

    /** Ends a connection, whoever waits for an answer on it. */
    static void abort(Connection connection) throws SQLException {
        // Not the pool's own, of which c3p0 and Agroal lose the place in the pool once it is aborted, and Agroal ends
        // nothing.
        connection.unwrap(Connection.class).abort(Runnable::run);
    }

    private static void discardForTomcat(Connection connection)
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        try {
            ClassLoader loader = connection.getClass().getClassLoader();
            Class<?> type = Class.forName(TOMCAT, false, loader == null ? Eviction.class.getClassLoader() : loader);
            type.getMethod("setDiscarded", boolean.class).invoke(connection.unwrap(type), true);
        } catch (ClassNotFoundException | LinkageError | SQLException e) {
            return; // it is of another pool, or of none
        }
    }
}
