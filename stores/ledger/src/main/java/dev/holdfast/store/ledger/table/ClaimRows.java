package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.ResourceName;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of claims: waiters, and grants that are not inline. Each method is one statement, as in {@link Rows}.
 *
 * <p>Not thread-safe.
 */
public class ClaimRows {

    /** Sorts before all keys. */
    public static final byte[] NO_KEY = {};

    private final StatementCache statements;

    public ClaimRows(StatementCache statements) {
        this.statements = statements;
    }

    /** Called when a transaction begins. */
    public void begin() {
        // This class buffers nothing.
    }

    /** Writes the pending changes. */
    public void flush() throws SQLException {
        // Each change was written at once.
    }

    /** Moves the pending changes to the batch at the end of the transaction. */
    public void gather() {
        // As above.
    }

    /** A query for claims. */
    protected PreparedStatement select(SqlTemplate template, Object... values) throws SQLException {
        return statements.bound(template, values);
    }

    /** The row of a claim on a resource; null if there is none. */
    @Nullable
    public ClaimRow find(ResourceRow resource, long session, long number) throws SQLException {
        return StatementCache.first(
                select(SqlTemplate.CLAIM, session, number, resource.key), row -> claim(resource, row));
    }

    /** The claim that has waited longest; null if none waits. */
    @Nullable
    public ClaimRow head(ResourceRow resource) throws SQLException {
        return StatementCache.first(select(SqlTemplate.HEAD, resource.key), row -> claim(resource, row));
    }

    public List<ClaimRow> waiters(ResourceRow resource, int limit) throws SQLException {
        return StatementCache.all(select(SqlTemplate.WAITERS, resource.key, limit), row -> claim(resource, row));
    }

    /** The waiters that are heavier than this weight, head first. */
    public List<ClaimRow> waitersAbove(ResourceRow resource, int weight) throws SQLException {
        return StatementCache.all(select(SqlTemplate.WAITERS_ABOVE, resource.key, weight), row -> claim(resource, row));
    }

    /** The grants with their own rows, oldest first. */
    public List<ClaimRow> grants(ResourceRow resource, int limit) throws SQLException {
        return StatementCache.all(select(SqlTemplate.GRANTS, resource.key, limit), row -> claim(resource, row));
    }

    public List<ClaimRow> grantsOf(ResourceRow resource, long session) throws SQLException {
        return StatementCache.all(
                select(SqlTemplate.GRANTS_OF_SESSION, resource.key, session), row -> claim(resource, row));
    }

    /** The grants with their own rows whose own lease has expired. */
    public List<ClaimRow> grantsOver(ResourceRow resource, long now) throws SQLException {
        return StatementCache.all(select(SqlTemplate.GRANTS_OVER, resource.key, now), row -> claim(resource, row));
    }

    /** The grant with its own row whose block contains a token; null if there is none. */
    @Nullable
    public ClaimRow grant(ResourceRow resource, long token) throws SQLException {
        return StatementCache.first(
                select(SqlTemplate.GRANT_OF_TOKEN, resource.key, token, token), row -> claim(resource, row));
    }

    /** How many grants a session has in their own rows, and their total weight. */
    public record SessionGrants(long session, long grants, long weight) {}

    /** The sessions of the grants with their own rows. */
    public List<SessionGrants> grantedSessions(ResourceRow resource) throws SQLException {
        return StatementCache.all(
                select(SqlTemplate.GRANTED_SESSIONS, resource.key),
                row -> new SessionGrants(row.getLong(1), row.getLong(2), row.getLong(3)));
    }

    /**
     * The earliest end of an own lease among the grants with their own rows; {@link Long#MAX_VALUE} if there is none.
     */
    public long firstEnd(ResourceRow resource) throws SQLException {
        Long ends = StatementCache.first(select(SqlTemplate.FIRST_END, resource.key), row -> row.getLong(1));
        return ends == null || ends == 0 ? Long.MAX_VALUE : ends;
    }

    /** A claim of a session and the name of its resource, to end or audit it. */
    public record Place(ResourceName name, ClaimRow claim) {}

    /**
     * The claims of a session that have their own rows, by number and key, after the given ones. Their resources are
     * placeholders.
     */
    public List<Place> ofSession(long session, long afterNumber, byte[] afterKey, int limit) throws SQLException {
        return StatementCache.all(select(SqlTemplate.CLAIMS_OF_SESSION, session, afterNumber, afterKey, limit), row -> {
            byte[] key = row.getBytes(10);
            ResourceName name = StatementCache.name(key);
            return new Place(name, claim(new ResourceRow(name, key), row));
        });
    }

    public void add(ClaimRow claim) throws SQLException {
        PreparedStatement insert = statements.prepare(SqlTemplate.ADD_CLAIM);
        setAll(insert, 0, claim);
        StatementCache.changeOne(insert);
    }

    /** Sets the values of {@link SqlTemplate#ADD_CLAIM}, after {@code before} others. */
    public static void setAll(PreparedStatement insert, int before, ClaimRow claim) throws SQLException {
        insert.setLong(before + 1, claim.session);
        insert.setLong(before + 2, claim.number);
        insert.setInt(before + 3, ColumnCodes.of(claim.binding));
        insert.setInt(before + 4, claim.wanted);
        insert.setInt(before + 5, claim.weight);
        insert.setLong(before + 6, claim.ends);
        insert.setLong(before + 7, claim.isGranted ? claim.seq : claim.queuedAt);
        insert.setLong(before + 8, claim.firstToken);
        insert.setLong(before + 9, claim.endToken);
        setRow(insert, before + 10, Row.of(claim));
    }

    public void save(ClaimRow claim) throws SQLException {
        PreparedStatement update = statements.bound(
                SqlTemplate.SAVE_CLAIM, claim.weight, claim.ends, claim.seq, claim.firstToken, claim.endToken);
        setRow(update, 6, Row.of(claim));
        StatementCache.changeOne(update);
    }

    public void drop(ClaimRow claim) throws SQLException {
        PreparedStatement delete = statements.prepare(SqlTemplate.DROP_CLAIM);
        setRow(delete, 1, Row.of(claim));
        StatementCache.changeOne(delete);
    }

    /** Drops all rows of claims on a resource that has never counted one. */
    public void dropUncounted(ResourceRow resource) throws SQLException {
        statements.bound(SqlTemplate.DROP_UNCOUNTED, resource.key).executeUpdate();
    }

    /** The current key of a claim's row: granting a claim changes it. */
    public record Row(ResourceRow resource, boolean isGranted, long place) {
        public static Row of(ClaimRow claim) {
            return new Row(claim.resource, claim.isGranted, claim.place);
        }
    }

    /** Sets the key of a row, beginning at an index. */
    public static void setRow(PreparedStatement statement, int from, Row row) throws SQLException {
        statement.setBytes(from, row.resource().key);
        statement.setInt(from + 1, row.isGranted() ? 1 : 0);
        statement.setLong(from + 2, row.place());
    }

    /** The claim of a row that begins with {@link SqlTemplate#CLAIM_COLUMNS}. */
    protected static ClaimRow claim(ResourceRow resource, ResultSet row) throws SQLException {
        long number = row.getLong(2);
        Binding binding;
        try {
            binding = ColumnCodes.binding(row.getInt(3));
        } catch (IllegalArgumentException e) {
            throw StatementCache.damaged(resource.name, "its claim " + number + " has an unknown binding");
        }
        ClaimRow claim = new ClaimRow(resource, row.getLong(1), number, binding, row.getInt(4));
        claim.weight = row.getInt(5);
        claim.ends = row.getLong(6);
        claim.isGranted = row.getInt(11) != 0;
        claim.place = row.getLong(12);
        if (claim.isGranted) {
            claim.seq = row.getLong(7);
            claim.firstToken = row.getLong(8);
            claim.endToken = row.getLong(9);
        } else {
            claim.queuedAt = row.getLong(7);
        }
        boolean hasTokens = claim.firstToken > 0 && claim.endToken >= claim.firstToken;
        boolean hasLease = claim.ends != 0;
        if (number <= 0
                || claim.weight < 0
                || claim.place <= 0
                || claim.wanted < 1
                || claim.isGranted != hasTokens
                || hasLease == (claim.binding == Binding.SESSION)) {
            throw StatementCache.damaged(
                    resource.name,
                    "its claim " + number + " has weight " + claim.weight + ", place " + claim.place + " and tokens "
                            + claim.firstToken + " to " + claim.endToken);
        }
        return claim;
    }
}
