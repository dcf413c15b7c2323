package dev.holdfast.store.jdbc;

import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A pool with a single connection in an unsuitable state: in a transaction, and serializable. */
final class PoolOfOne implements DataSource, AutoCloseable {

    private final Connection connection;
    private final Semaphore idle = new Semaphore(1);

    PoolOfOne(String url) throws SQLException {
        this.connection = new DriverDataSource(url).getConnection();
    }

    @Override
    public Connection getConnection() throws SQLException {
        try {
            if (!idle.tryAcquire(60, TimeUnit.SECONDS)) {
                throw new SQLTransientConnectionException("Nobody gave the connection back");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SQLTransientConnectionException(e);
        }
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        connection.setAutoCommit(false);
        boolean[] isBack = {false};
        return (Connection) Proxy.newProxyInstance(
                PoolOfOne.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        if (!isBack[0]) {
                            isBack[0] = true;
                            if (!connection.getAutoCommit()) {
                                connection.rollback();
                                connection.setAutoCommit(true);
                            }
                            idle.release();
                        }
                        return null;
                    }
                    if (isBack[0]) {
                        throw new SQLException("This connection was given back");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("Not a " + type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
