package dev.holdfast.benchmarks.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The database of a cell.
 *
 * @param place the directory of the cell
 */
public record Database(Servers.Kind kind, Path place, String url) {

    /** The size of the pool that contestants with a pool have in each process. */
    public static final int POOL = 32;

    /** The database that was lent to a directory. */
    public static Database at(Servers.Kind kind, Path place) {
        return new Database(kind, place, Servers.address(kind, place));
    }

    /** A connection without a pool. */
    public Connection connect() {
        return connect(url);
    }

    public static Connection connect(String url) {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public static PreparedStatement prepare(Connection connection, String sql) {
        try {
            return connection.prepareStatement(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A pool with its default settings, but for the size. */
    public HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(POOL);
        return new HikariDataSource(config);
    }

    /** The address as a store's URI, where the user stands before the host. */
    public String storeUri() {
        URI uri = URI.create(url.substring("jdbc:".length()));
        List<String> others = new ArrayList<>(List.of(uri.getQuery().split("&", -1)));
        String user = others.stream()
                .filter(parameter -> parameter.startsWith("user="))
                .findAny()
                .orElseThrow();
        others.remove(user);
        return uri.getScheme() + "://" + user.substring("user=".length()) + "@" + uri.getHost() + ":" + uri.getPort()
                + uri.getPath() + "?" + String.join("&", others);
    }

    /** Runs an action once, in the process of the cell that is first. */
    public void once(String name, Runnable making) {
        try (FileChannel done = FileChannel.open(
                        place.resolve(name + ".made"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = done.lock()) {
            if (lock.isValid() && done.size() == 0) {
                making.run();
                done.write(ByteBuffer.wrap(new byte[1]));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Executes a statement in a separate transaction. */
    public void execute(String sql) {
        Connection connection = connect();
        execute(connection, sql);
        close(connection);
    }

    /** Executes statements, each in a separate transaction. */
    public static void execute(Connection connection, String... statements) {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
