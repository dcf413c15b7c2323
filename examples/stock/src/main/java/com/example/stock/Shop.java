package com.example.stock;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** What the shop has and what it has sold, in a database. */
final class Shop {

    private Shop() {}

    static void createTables(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE stock ("
                    + "product VARCHAR(40) PRIMARY KEY, pieces INT NOT NULL, version BIGINT NOT NULL)");
            statement.execute("CREATE TABLE sale (product VARCHAR(40) NOT NULL, pieces INT NOT NULL)");
        }
    }

    static void deliver(DataSource database, String product, int pieces) throws SQLException {
        try (Connection connection = database.getConnection();
                PreparedStatement insert = connection.prepareStatement("INSERT INTO stock VALUES (?, ?, 0)")) {
            insert.setString(1, product);
            insert.setInt(2, pieces);
            insert.executeUpdate();
        }
    }

    /**
     * Sells a piece, unless there is none left. It looks, decides and writes, so two that run at once would sell the
     * same piece; whoever calls it sees to it that they don't.
     *
     * @return whether there was one
     */
    static boolean sellOne(Connection connection, String product) throws SQLException {
        int pieces = number(connection, "SELECT pieces FROM stock WHERE product = ?", product);
        if (pieces == 0) {
            return false;
        }
        try (PreparedStatement update = connection.prepareStatement("UPDATE stock SET pieces = ? WHERE product = ?");
                PreparedStatement insert = connection.prepareStatement("INSERT INTO sale VALUES (?, 1)")) {
            update.setInt(1, pieces - 1);
            update.setString(2, product);
            update.executeUpdate();
            insert.setString(1, product);
            insert.executeUpdate();
        }
        return true;
    }

    static int stockOf(Connection connection, String product) throws SQLException {
        return number(connection, "SELECT pieces FROM stock WHERE product = ?", product);
    }

    static int soldOf(Connection connection, String product) throws SQLException {
        return number(connection, "SELECT coalesce(sum(pieces), 0) FROM sale WHERE product = ?", product);
    }

    private static int number(Connection connection, String sql, String product) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql)) {
            select.setString(1, product);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }
}
