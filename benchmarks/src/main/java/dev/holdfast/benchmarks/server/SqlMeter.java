package dev.holdfast.benchmarks.server;

import dev.holdfast.benchmarks.harness.Processors;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/*
 * Each connection reports its commits to pg_stat_database only once per second, which is too coarse for a window of a
 * few seconds. Transaction ids are consecutive, and only transactions that write get one.
 */

/**
 * The counters of a database server: top-level statements, and transactions that wrote. On MariaDB they include all
 * users of the server; PostgreSQL does not count failed statements.
 */
final class SqlMeter implements Meter {

    /** MariaDB's counter of transactions that wrote; it must be enabled at the start of the server. */
    static final String MARIADB_COMMITS = "trx_commits_insert_update";

    private static final String ON_MARIADB =
            "SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'QUESTIONS'),"
                    + " (SELECT `COUNT` FROM information_schema.INNODB_METRICS WHERE NAME = '" + MARIADB_COMMITS + "')";

    private static final String ON_POSTGRESQL =
            "SELECT (SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements(false) s"
                    + " JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database()),"
                    + " pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

    private final Connection connection;
    private final PreparedStatement query;
    private final long pid;

    /** The readings, one statement each, that the server has counted when it replies to the next one. */
    private int counted;

    private SqlMeter(Servers.Kind kind, Path place, String query, int counted) {
        this.connection = Database.at(kind, place).connect();
        this.pid = Servers.pid(kind, place);
        this.query = Database.prepare(connection, query);
        this.counted = counted;
    }

    /** A statement is counted when it ends. */
    static SqlMeter onPostgresql(Path place) {
        return new SqlMeter(Servers.Kind.POSTGRESQL, place, ON_POSTGRESQL, 0);
    }

    /** A statement is counted when it begins. */
    static SqlMeter onMariaDb(Path place) {
        return new SqlMeter(Servers.Kind.MARIADB, place, ON_MARIADB, 1);
    }

    @Override
    public Reading read() {
        try (ResultSet row = query.executeQuery()) {
            row.next();
            double statements = row.getDouble(1) - counted++;
            return new Reading(statements, row.getDouble(2), Processors.ofProcess(pid));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        Database.close(connection);
    }
}
