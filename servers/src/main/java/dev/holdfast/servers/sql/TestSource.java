package dev.holdfast.servers.sql;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Connections to a URL, new for each. */
public class TestSource implements DataSource {

    private final String url;

    public TestSource(String url) {
        this.url = url;
    }

    public String url() {
        return url;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return DriverManager.getConnection(url);
    }

    /** A new one that is in a transaction. */
    public Connection begin() throws SQLException {
        Connection connection = getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /** Does something in a transaction each. */
    public void execute(String... statements) throws SQLException {
        try (Connection connection = getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    public String text(String query) throws SQLException {
        try (Connection connection = getConnection()) {
            return text(connection, query);
        }
    }

    public static String text(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : "";
        }
    }

    public static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** A pool of one connection without autocommit, which throws on a request for a second one. */
    public static final class PoolOfOne extends TestSource implements AutoCloseable {
        private final Connection only;
        private final Semaphore free = new Semaphore(1);

        public PoolOfOne(String url) throws SQLException {
            super(url);
            only = DriverManager.getConnection(url);
            only.setAutoCommit(false);
        }

        @Override
        public Connection getConnection() throws SQLException {
            try {
                if (!free.tryAcquire(60, TimeUnit.SECONDS)) {
                    throw new SQLException("The pool is exhausted");
                }
            } catch (InterruptedException e) {
                throw new SQLException(e);
            }
            return (Connection) Proxy.newProxyInstance(
                    TestSource.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            only.rollback();
                            free.release();
                            return null;
                        }
                        try {
                            return method.invoke(only, arguments);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Override
        public void close() throws SQLException {
            only.close();
        }
    }

    @Override
    public Connection getConnection(String user, String password) {
        throw new UnsupportedOperationException();
    }

    @Override
    public PrintWriter getLogWriter() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLogWriter(PrintWriter out) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setLoginTimeout(int seconds) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("Nothing is wrapped");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
