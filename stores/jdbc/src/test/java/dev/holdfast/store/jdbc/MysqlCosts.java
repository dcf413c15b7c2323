package dev.holdfast.store.jdbc;

import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * How many rows statements on a MariaDB or MySQL server have read, from its slow query log, which contains all of them.
 * The server logs a statement after it has answered it.
 */
final class MysqlCosts implements StatementCosts {

    private final LocalSqlServer server;
    private final String database;
    private int seen;

    /** Reads the log of a server that logs all statements, see {@link #start}. */
    MysqlCosts(LocalSqlServer server, String url) {
        this.server = server;
        this.database = url.replaceFirst("[?].*", "").replaceFirst(".*/", "");
    }

    /** A server that logs all statements of new connections. */
    static LocalSqlServer start() {
        LocalSqlServer server = MariaDbOrMysql.start();
        server.execute(
                "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = ON");
        return server;
    }

    @Override
    public List<StatementCost> next() throws SQLException {
        List<StatementCost> costs = new ArrayList<>();
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "SELECT CONVERT(sql_text USING latin1), rows_examined FROM mysql.slow_log WHERE db = '"
                                + database + "' LIMIT " + seen + ", " + Integer.MAX_VALUE)) {
            while (row.next()) {
                costs.add(new StatementCost(row.getString(1), row.getLong(2), List.of(), 0, false, ""));
            }
        }
        seen += costs.size();
        return costs;
    }
}
