package dev.holdfast.store.sqlite;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/** A row in a separate database that compares the token and writes in one step, as the docs advise. */
final class GuardedRow {

    private final String url;

    GuardedRow(Path file) {
        this.url = "jdbc:sqlite:" + file + "?busy_timeout=60000";
    }

    void make() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.executeUpdate("CREATE TABLE guarded (token INTEGER NOT NULL, value TEXT NOT NULL)");
            statement.executeUpdate("INSERT INTO guarded VALUES (0, 'nothing')");
        }
    }

    /** Whether the value was accepted. */
    boolean write(long token, String value) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                PreparedStatement update =
                        connection.prepareStatement("UPDATE guarded SET token = ?1, value = ?2 WHERE token <= ?1")) {
            update.setLong(1, token);
            update.setString(2, value);
            return update.executeUpdate() == 1;
        }
    }

    String read() throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT value FROM guarded")) {
            row.next();
            return row.getString(1);
        }
    }
}
