package dev.holdfast.store.sql;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a transaction has locked, and what was read behind that.
 *
 * @param resources those of the names that have rows
 * @param sessions those of the sessions that have rows; they stay as they are until the transaction ends
 * @param now the time, not after any of the reading but that of the resources; 0 if it was not told
 * @param queues the first of those who wait for each of the resources; null if that was not read
 */
record Locked(
        List<Resource> resources,
        List<Session> sessions,
        long now,
        @Nullable Queues queues) {

    /**
     * The first {@value LockedClaimRows#AHEAD} of those who wait, resource by resource, head first.
     *
     * @param sessions of those, as they were then
     */
    record Queues(List<Claim> claims, List<Session> sessions) {}

    /** Locks by one statement after another, each of which is a trip to the server. */
    static Locked oneByOne(
            Product product, Statements statements, List<byte[]> keys, Collection<Long> sessions, LockWait wait)
            throws SQLException {
        List<Resource> resources = List.of();
        if (!keys.isEmpty()) {
            try (ResultSet row = product.locking(statements, keys, wait).executeQuery()) {
                resources = Rows.resources(row);
            }
        }
        List<Session> found = new ArrayList<>(sessions.size());
        long now = 0;
        for (long id : sessions) {
            PreparedStatement select = statements.prepare(statements.texts().of(product.sharingSession()));
            select.setLong(1, id);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    found.add(Rows.session(id, row));
                    now = row.getLong(6);
                }
            }
        }
        return new Locked(resources, found, now, null);
    }
}
