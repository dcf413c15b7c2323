package dev.holdfast.store.sqlite;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Changes a file as a person with the sqlite3 shell would. */
final class Database {

    private Database() {}

    static void run(Path file, String... statements) {
        try (Connection connection = open(file);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.executeUpdate(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static List<String> query(Path file, String query) {
        try (Connection connection = open(file);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            List<String> found = new ArrayList<>();
            while (row.next()) {
                found.add(row.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static long number(Path file, String query) {
        return Long.parseLong(query(file, query).get(0));
    }

    static Connection open(Path file) throws SQLException {
        return DriverManager.getConnection("jdbc:sqlite:" + file);
    }
}
