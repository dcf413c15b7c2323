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
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The database of a cell.
 *
 * @param place of the cell
 * @param url for JDBC
 */
public record Database(Servers.Kind kind, Path place, String url) {

    /** Those who work with a pool have one of this size in each process. */
    public static final int POOL = 32;

    /** The database whose address was left in a place. */
    public static Database at(Servers.Kind kind, Path place) {
        return new Database(kind, place, Servers.address(kind, place));
    }

    /** A connection without a pool. */
    public Connection connect() {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A statement on a connection. */
    public static PreparedStatement prepare(Connection connection, String sql) {
        try {
            return connection.prepareStatement(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Closes a connection. */
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

    /** The address in the form that a store takes: the user stands before the host. */
    public String storeUri() {
        URI uri = URI.create(url.substring("jdbc:".length()));
        String rest = Arrays.stream(uri.getQuery().split("&", -1))
                .filter(parameter -> !parameter.startsWith("user="))
                .collect(Collectors.joining("&"));
        String user = Arrays.stream(uri.getQuery().split("&", -1))
                .filter(parameter -> parameter.startsWith("user="))
                .map(parameter -> parameter.substring("user=".length()))
                .findAny()
                .orElseThrow();
        return uri.getScheme() + "://" + user + "@" + uri.getHost() + ":" + uri.getPort() + uri.getPath() + "?" + rest;
    }

    /** What is to be made in a new database. */
    public interface Making {
        void make() throws SQLException;
    }

    /** Makes something of a name once, whichever process of the cell comes first. */
    public void once(String name, Making making) {
        try (FileChannel done = FileChannel.open(
                        place.resolve(name + ".made"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = done.lock()) {
            if (lock.isValid() && done.size() == 0) {
                making.make();
                done.write(ByteBuffer.wrap(new byte[1]));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Does something, each statement in a transaction of its own. */
    public void execute(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
