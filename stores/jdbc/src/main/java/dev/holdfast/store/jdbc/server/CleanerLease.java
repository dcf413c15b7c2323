package dev.holdfast.store.jdbc.server;

import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Lease under which one client cleans for all: the moment of its last sign of life, in a row that all see. A client
 * that was stopped for longer than the lease finds that another has it.
 *
 * <p>Not thread-safe.
 */
public final class CleanerLease {

    /** How long it lasts beyond its last sign of life, so also the least time from the end of one to the next. */
    public static final long EVERY_MICROS = TimeUnit.MINUTES.toMicros(1);

    private final ServerLane lane;
    private long lastSeen;
    private boolean isOurs;

    public CleanerLease(ServerLane lane) {
        this.lane = lane;
    }

    /** Tells whether it is ours from here on. */
    public boolean begin() {
        lane.transact(Set.of(), ledger -> {
            // Ahead of the present is only what a clock has written that was set back since.
            PreparedStatement update = prepare(
                    ledger, "UPDATE holdfast_meta SET purged = ? WHERE one = 1 AND (purged <= ? OR purged > ?)");
            long now = ledger.now();
            update.setLong(1, now);
            update.setLong(2, now - EVERY_MICROS);
            update.setLong(3, now);
            isOurs = update.executeUpdate() > 0;
            lastSeen = now;
        });
        return isOurs;
    }

    /** Gives a sign of life; tells whether it is still ours. */
    public boolean goesOn() {
        long before = lastSeen;
        lane.transact(Set.of(), ledger -> {
            PreparedStatement update =
                    prepare(ledger, "UPDATE holdfast_meta SET purged = ? WHERE one = 1 AND purged = ?");
            // Another number in any case: some drivers count only rows that they have changed.
            long now = Math.max(before + 1, ledger.now());
            update.setLong(1, now);
            update.setLong(2, before);
            isOurs = isOurs && update.executeUpdate() > 0;
            lastSeen = now;
        });
        return isOurs;
    }

    private static PreparedStatement prepare(Ledger ledger, String text) throws SQLException {
        StatementCache statements = ledger.context().statements();
        return statements.prepare(statements.templates().of(text));
    }
}
