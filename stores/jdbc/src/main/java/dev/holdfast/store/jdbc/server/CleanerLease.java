package dev.holdfast.store.jdbc.server;

import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Lease of the one client that cleans up for all: the time of its last renewal, in a shared row. A client that was
 * paused for longer than the lease finds that another client has it.
 *
 * <p>Not thread-safe.
 */
public final class CleanerLease {

    /** How long it lasts after its last renewal, and so the shortest time between two leases. */
    public static final long EVERY_MICROS = TimeUnit.MINUTES.toMicros(1);

    private final ServerLane lane;
    private long lastSeen;
    private boolean isOurs;

    public CleanerLease(ServerLane lane) {
        this.lane = lane;
    }

    /** Takes the lease if it is free; returns whether it is ours. */
    public boolean begin() {
        lane.transact(Set.of(), ledger -> {
            // A time in the future was written before the clock was set back.
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

    /** Renews the lease; returns whether it is still ours. */
    public boolean renew() {
        long before = lastSeen;
        lane.transact(Set.of(), ledger -> {
            PreparedStatement update =
                    prepare(ledger, "UPDATE holdfast_meta SET purged = ? WHERE one = 1 AND purged = ?");
            // Always a new number, because some drivers count only rows whose values have changed.
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
