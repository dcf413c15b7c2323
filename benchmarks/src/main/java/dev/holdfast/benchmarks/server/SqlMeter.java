package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Processors;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What a database server counts: statements, which no other runs inside of, and transactions that wrote. */
abstract class SqlMeter implements FlatMeter {

    /** What one reading is to the server. */
    private static final int OWN_STATEMENTS = 1;

    private final Connection connection;
    private final PreparedStatement query;
    private final long pid;
    private int readings;

    /**
     * Connects.
     *
     * @param query for the number of statements, and that of commits
     * @param pid of the first process of the server
     */
    SqlMeter(Database database, String query, long pid) {
        this.connection = database.connect();
        this.pid = pid;
        this.query = Database.prepare(connection, query);
    }

    @Override
    public final Reading read() {
        try (ResultSet row = query.executeQuery()) {
            row.next();
            double statements = row.getDouble(1) - counted(readings++) * OWN_STATEMENTS;
            return new Reading(statements, row.getDouble(2), Processors.ofProcess(pid));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How many readings the server has counted when it answers to one, after so many before. */
    abstract int counted(int before);

    @Override
    public final void close() {
        Database.close(connection);
    }
}
