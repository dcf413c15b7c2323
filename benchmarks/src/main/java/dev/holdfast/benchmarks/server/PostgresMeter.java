package dev.holdfast.benchmarks.server;

import java.nio.file.Path;

/*
 * pg_stat_database knows commits, but is told of them by each connection once a second only, which is too rough for a
 * window of a few seconds. Numbers of transactions are given one after another to those that write, and to them alone.
 */

/** What PostgreSQL counts; a statement that fails is not among it. */
final class PostgresMeter extends SqlMeter {

    PostgresMeter(Path place) {
        super(
                Database.at(Servers.Kind.POSTGRESQL, place),
                "SELECT (SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements(false) s"
                        + " JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = current_database()),"
                        + " pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
                Servers.pid(Servers.Kind.POSTGRESQL, place));
    }

    /** A statement is counted when it ends. */
    @Override
    int counted(int before) {
        return before;
    }
}
