package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply.Runs.Run;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Tokens;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The rows of recorded runs of scheduled tasks, which outlive the other rows of their names.
 *
 * <p>Not thread-safe.
 */
public final class RunRows {

    private static final long RETENTION_MICROS = TimeUnit.DAYS.toMicros(366);

    private final StatementCache statements;

    public RunRows(StatementCache statements) {
        this.statements = statements;
    }

    /** Adds a run, or replaces the one with its token, and drops what is no longer among the newest. */
    public void save(RecordRun run) throws SQLException {
        byte[] key = run.resource().utf8();
        byte[] text = run.run().getBytes(StandardCharsets.UTF_8);
        List<Long> kept = StatementCache.all(
                statements.bound(SqlTemplate.RUN_TOKENS, key, RecordRun.KEPT), row -> row.getLong(1));
        boolean isFull = kept.size() == RecordRun.KEPT;
        long oldest = isFull ? kept.get(kept.size() - 1) : 0;
        if (kept.contains(run.token())) {
            statements.bound(SqlTemplate.SAVE_RUN, text, key, run.token()).executeUpdate();
        } else if (run.token() > oldest) {
            StatementCache.changeOne(statements.bound(SqlTemplate.ADD_RUN, text, key, run.token()));
            if (isFull) {
                statements.bound(SqlTemplate.DROP_RUNS, key, oldest).executeUpdate();
            }
        }
    }

    /** The newest runs of a task, by falling tokens. */
    public List<Run> newest(ResourceName task) throws SQLException {
        return StatementCache.all(statements.bound(SqlTemplate.RUNS, task.utf8(), RecordRun.KEPT), row -> {
            byte[] text = row.getBytes(2);
            return new Run(row.getLong(1), text == null ? "" : new String(text, StandardCharsets.UTF_8));
        });
    }

    /** The key of a row. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Key(byte[] name, long token) {}

    /** Deletes runs of more than a year ago, at most this many; returns how many. */
    public int deleteOld(long unixMicros, int limit) throws SQLException {
        if (!statements.templates().limitation().isEmpty()) {
            return 0;
        }
        long below = Tokens.floor(Math.max(0, unixMicros - RETENTION_MICROS));
        List<Key> old = StatementCache.all(
                statements.bound(SqlTemplate.OLD_RUNS, below, limit), row -> new Key(row.getBytes(1), row.getLong(2)));
        for (Key key : old) {
            statements.bound(SqlTemplate.DROP_RUNS, key.name, key.token).executeUpdate();
        }
        return old.size();
    }
}
