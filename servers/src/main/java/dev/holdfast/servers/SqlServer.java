package dev.holdfast.servers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.UUID;

/** A database server that tests talk to, started by them or given. */
public abstract class SqlServer implements AutoCloseable {

    private final String url;

    SqlServer(String url) {
        this.url = url;
    }

    /** The JDBC URL of a database on it, with the user who may do everything there. */
    public final String url() {
        return url;
    }

    /** A new connection to {@link #url}. */
    public final Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    /** Runs statements on the server, each in a separate transaction. */
    public final void execute(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The URL of a new and empty database on it. */
    public final String newDatabase() {
        String name = "t" + UUID.randomUUID().toString().replace("-", "");
        execute("CREATE DATABASE " + name);
        int from = url.indexOf('/', url.indexOf("//") + 2) + 1;
        int to = url.indexOf('?', from);
        return url.substring(0, from) + name + (to < 0 ? "" : url.substring(to));
    }

    @Override
    public abstract void close();

    /** The server whose JDBC URL is in a system property or, without one, in an environment variable. */
    static Optional<SqlServer> given(String property, String variable) {
        String url = System.getProperty(property, System.getenv().getOrDefault(variable, ""));
        return url.isEmpty() ? Optional.empty() : Optional.of(new Given(url));
    }

    private static final class Given extends SqlServer {
        private Given(String url) {
            super(url);
        }

        @Override
        public void close() {
            // Not ours.
        }
    }
}
