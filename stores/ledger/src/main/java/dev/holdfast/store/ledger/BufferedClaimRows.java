package dev.holdfast.store.ledger;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.ledger.table.ClaimRow;
import dev.holdfast.store.ledger.table.ClaimRows;
import dev.holdfast.store.ledger.table.ResourceRow;
import dev.holdfast.store.ledger.table.Rows;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Claim rows of resources that the transaction has locked, so that no other transaction changes them. The
 * longest-waiting claims are read once, and changes are written as one batch: before the commit, or before a query that
 * they could affect. This saves round trips, because each statement is one.
 *
 * <p>Not thread-safe.
 */
public final class BufferedClaimRows extends ClaimRows {

    /** How many waiters are read: a hand-over needs the next one, and whether there is another. */
    private static final int AHEAD = 4;

    /** The first waiters of a resource. */
    private static final class Front {
        final List<ClaimRow> claims;

        /** Whether there are no other waiters. */
        boolean isAll;

        Front(List<ClaimRow> claims) {
            this.claims = new ArrayList<>(claims);
            this.isAll = claims.size() < AHEAD;
        }
    }

    private final StatementCache statements;
    private final SessionCache sessions;
    private final WriteBatch writes;
    private final Map<ResourceName, Front> fronts = new HashMap<>();

    /** Claims to be inserted; compared by identity. */
    private final Set<ClaimRow> added = new LinkedHashSet<>();

    private final List<Row> dropped = new ArrayList<>();

    /** Resources that get their first claim. Claim rows that they never counted are deleted before that. */
    private final List<ResourceRow> uncounted = new ArrayList<>();

    public BufferedClaimRows(StatementCache statements, SessionCache sessions, WriteBatch writes) {
        super(statements);
        this.statements = statements;
        this.sessions = sessions;
        this.writes = writes;
    }

    /** Forgets everything, for a new transaction. */
    @Override
    public void begin() {
        fronts.clear();
        added.clear();
        dropped.clear();
        uncounted.clear();
    }

    /** Writes the changes. */
    @Override
    public void flush() throws SQLException {
        gather();
        writes.send();
    }

    @Override
    public void gather() {
        for (ResourceRow resource : uncounted) {
            writes.ask(
                    SqlTemplate.DROP_UNCOUNTED.text,
                    (statement, before) -> statement.setBytes(before + 1, resource.key));
        }
        uncounted.clear();
        for (Row row : dropped) {
            writes.change(SqlTemplate.DROP_CLAIM, (statement, before) -> setRow(statement, before + 1, row));
        }
        dropped.clear();
        for (ClaimRow claim : added) {
            writes.change(SqlTemplate.ADD_CLAIM, (statement, before) -> setAll(statement, before, claim));
        }
        added.clear();
    }

    private Front front(ResourceRow resource) throws SQLException {
        Front known = fronts.get(resource.name);
        if (known == null || (known.claims.isEmpty() && !known.isAll)) {
            flush();
            known = new Front(read(resource));
            fronts.put(resource.name, known);
        }
        return known;
    }

    /** Includes the head's session, which is needed next; the others' are read when they become the head. */
    private List<ClaimRow> read(ResourceRow resource) throws SQLException {
        List<ClaimRow> claims = new ArrayList<>(AHEAD);
        try (ResultSet row =
                statements.bound(SqlTemplate.FRONT, resource.key, AHEAD).executeQuery()) {
            while (row.next()) {
                ClaimRow claim = claim(resource, row);
                claims.add(claim);
                if (claims.size() == 1) {
                    boolean hasSession = row.getLong(14) != 0;
                    sessions.putIfUnknown(claim.session, hasSession ? Rows.session(claim.session, row, 13) : null);
                }
            }
        }
        return claims;
    }

    @Override
    @Nullable
    public ClaimRow head(ResourceRow resource) throws SQLException {
        List<ClaimRow> claims = front(resource).claims;
        return claims.isEmpty() ? null : claims.get(0);
    }

    @Override
    @Nullable
    public ClaimRow find(ResourceRow resource, long session, long number) throws SQLException {
        Front front = front(resource);
        for (ClaimRow claim : front.claims) {
            if (claim.session == session && claim.number == number) {
                return claim;
            }
        }
        for (ClaimRow claim : added) {
            if (claim.resource == resource && claim.session == session && claim.number == number) {
                return claim;
            }
        }
        if (front.isAll && resource.grants == 0) {
            return null;
        }
        return super.find(resource, session, number);
    }

    @Override
    public void add(ClaimRow claim) {
        Front front = fronts.get(claim.resource.name);
        if (front != null && front.isAll && !claim.isGranted) {
            front.claims.add(claim);
        }
        added.add(claim);
    }

    /** A claim that is not inserted yet will be inserted with this change. */
    @Override
    public void save(ClaimRow claim) throws SQLException {
        if (!added.contains(claim)) {
            super.save(claim);
        }
    }

    @Override
    public void drop(ClaimRow claim) {
        Front front = fronts.get(claim.resource.name);
        if (front != null && !claim.isGranted) {
            front.claims.removeIf(other -> other.place == claim.place);
        }
        if (!added.remove(claim)) {
            dropped.add(Row.of(claim));
        }
    }

    @Override
    public void dropUncounted(ResourceRow resource) {
        uncounted.add(resource);
    }

    /** Rarer queries go to the database, after pending changes. */
    @Override
    protected PreparedStatement select(SqlTemplate template, Object... values) throws SQLException {
        flush();
        return super.select(template, values);
    }
}
