package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of resources and sessions. Each method is one statement in the connection's current transaction.
 *
 * <p>Rows are checked when read. An invalid row is evidence of damage: it is neither overwritten nor taken for a free
 * lock.
 *
 * <p>Not thread-safe.
 */
public final class Rows {

    private final StatementCache statements;

    public Rows(StatementCache statements) {
        this.statements = statements;
    }

    // Resources

    /** The row of a resource; null if there is none. */
    @Nullable
    public ResourceRow resource(ResourceName name) throws SQLException {
        byte[] key = name.utf8();
        return StatementCache.first(
                statements.bound(SqlTemplate.RESOURCE, key), row -> resource(new ResourceRow(name, key), row));
    }

    /** The resources of a result that has the name as its last column. */
    public static List<ResourceRow> resources(ResultSet row) throws SQLException {
        List<ResourceRow> found = new ArrayList<>();
        while (row.next()) {
            byte[] key = row.getBytes(15);
            found.add(resource(new ResourceRow(StatementCache.name(key), key), row));
        }
        return found;
    }

    private static ResourceRow resource(ResourceRow into, ResultSet row) throws SQLException {
        long spec = row.getLong(1);
        long capacity = row.getLong(2);
        into.lastToken = row.getLong(3);
        into.session = row.getLong(4);
        into.grants = row.getLong(11);
        into.shared = row.getLong(12);
        into.waiters = row.getLong(13);
        into.places = row.getLong(14);
        if (into.session != 0) {
            into.claim = row.getLong(5);
            into.weight = row.getInt(6);
            into.firstToken = row.getLong(7);
            into.endToken = row.getLong(8);
            into.ends = row.getLong(9);
            into.seq = row.getLong(10);
        }
        try {
            into.declared = ColumnCodes.spec(spec);
        } catch (IllegalArgumentException e) {
            throw StatementCache.damaged(into.name, "its declaration is " + spec);
        }
        into.capacity = (int) capacity;
        into.isStored = true;
        if (capacity < 1 || capacity > Integer.MAX_VALUE || into.lastToken < 0) {
            throw StatementCache.damaged(
                    into.name, "its capacity is " + capacity + " and its last token " + into.lastToken);
        }
        if (into.grants < 0 || into.shared < 0 || into.waiters < 0 || into.places < 0) {
            throw StatementCache.damaged(
                    into.name,
                    "it counts " + into.grants + " grants of weight " + into.shared + " and " + into.waiters
                            + " waiters");
        }
        if (into.session != 0
                && (into.claim <= 0
                        || into.weight < 0
                        || into.firstToken <= 0
                        || into.endToken < into.firstToken
                        || into.endToken > into.lastToken)) {
            throw StatementCache.damaged(
                    into.name,
                    "its grant is claim " + into.claim + " of weight " + into.weight + " with tokens " + into.firstToken
                            + " to " + into.endToken);
        }
        return into;
    }

    public void save(ResourceRow resource) throws SQLException {
        PreparedStatement write =
                statements.prepare(resource.isStored ? SqlTemplate.SAVE_RESOURCE : SqlTemplate.ADD_RESOURCE);
        setAll(write, 0, resource);
        StatementCache.changeOne(write);
        resource.isStored = true;
        resource.isDirty = false;
    }

    /** Saves a resource that has a row, at the end of the transaction. */
    public static void save(ResourceRow resource, WriteBatch writes) {
        writes.change(SqlTemplate.SAVE_RESOURCE, (statement, before) -> setAll(statement, before, resource));
        resource.isDirty = false;
    }

    private static void setAll(PreparedStatement write, int before, ResourceRow resource) throws SQLException {
        write.setLong(before + 1, ColumnCodes.of(resource.declared));
        write.setLong(before + 2, resource.capacity);
        write.setLong(before + 3, resource.lastToken);
        write.setLong(before + 4, resource.session);
        write.setLong(before + 5, resource.claim);
        write.setLong(before + 6, resource.weight);
        write.setLong(before + 7, resource.firstToken);
        write.setLong(before + 8, resource.endToken);
        write.setLong(before + 9, resource.ends);
        write.setLong(before + 10, resource.seq);
        write.setLong(before + 11, resource.grants);
        write.setLong(before + 12, resource.shared);
        write.setLong(before + 13, resource.waiters);
        write.setLong(before + 14, resource.places);
        write.setBytes(before + 15, resource.key);
    }

    /** The names of the resources with waiters whose inline grant belongs to a session. */
    public List<ResourceName> contended(long session) throws SQLException {
        return StatementCache.names(statements.bound(SqlTemplate.CONTENDED, session));
    }

    /**
     * A row of a resource, for listings.
     *
     * @param resource its content; null if that is invalid
     * @param damage why it is invalid; null if it is valid
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Row(
            byte[] key,
            @Nullable ResourceRow resource,
            @Nullable StoreException damage) {

        private static Row of(ResultSet row) throws SQLException {
            byte[] key = row.getBytes(15);
            try {
                return new Row(key, Rows.resource(new ResourceRow(StatementCache.name(key), key), row), null);
            } catch (StoreException damage) {
                return new Row(key, null, damage);
            }
        }
    }

    /** The rows of resources that are in use or were latches, from one key up to another. */
    public List<Row> inUse(byte[] from, byte[] to, int limit) throws SQLException {
        return StatementCache.all(statements.bound(SqlTemplate.IN_USE, from, to, limit), Row::of);
    }

    /** The rows of resources with waiters, from one key up to another. */
    public List<Row> waited(byte[] from, byte[] to, int limit) throws SQLException {
        return StatementCache.all(statements.bound(SqlTemplate.WAITED, from, to, limit), Row::of);
    }

    /** An inline grant, for an audit. */
    public record Inline(ResourceName name, long claim, long ends) {
        /** As {@link ClaimRow#isOver}. */
        public boolean isOver(long now) {
            return ends > 0 && ends <= now;
        }
    }

    /** The inline grants of a session whose names are after a key. */
    public List<Inline> inline(long session, byte[] after, int limit) throws SQLException {
        return StatementCache.all(
                statements.bound(SqlTemplate.INLINE, session, after, limit),
                row -> new Inline(StatementCache.name(row.getBytes(1)), row.getLong(2), row.getLong(3)));
    }

    /** The greatest token that a resource without a row may have had. */
    public long floor() throws SQLException {
        Long floor = StatementCache.first(statements.prepare(SqlTemplate.FLOOR), row -> row.getLong(1));
        if (floor == null) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the table holdfast_meta has lost its row; " + StatementCache.WHAT_TO_DO,
                    null);
        }
        return floor;
    }

    /** A session that has ended, and a name on which it has claims that the resource never counted. */
    public record Uncounted(long session, @Nullable ResourceName name) {}

    /** The sessions that have ended, after a number. */
    public List<Uncounted> uncounted(long after, int limit) throws SQLException {
        return StatementCache.all(statements.bound(SqlTemplate.UNCOUNTED, after, limit), row -> {
            byte[] key = row.getBytes(2);
            return new Uncounted(row.getLong(1), key == null ? null : StatementCache.name(key));
        });
    }

    /** A resource that may have been unused for long, or that has claims in their own rows, which may be dead. */
    public record Resting(ResourceName name, long lastToken, boolean hasClaims) {}

    /** All resources after a key. */
    public List<Resting> names(byte[] after, int limit) throws SQLException {
        return resting(statements.bound(SqlTemplate.NAMES, after, limit));
    }

    private static List<Resting> resting(PreparedStatement select) throws SQLException {
        return StatementCache.all(
                select, row -> new Resting(StatementCache.name(row.getBytes(1)), row.getLong(2), row.getLong(3) > 0));
    }

    /** The resources after a key whose last token is at most {@code below}, or that have claims in their own rows. */
    public List<Resting> resting(byte[] after, long below, int limit) throws SQLException {
        return resting(statements.bound(SqlTemplate.RESTING, after, below, limit));
    }

    /** Makes resources without a row start above this token. */
    public void raiseFloor(long token) throws SQLException {
        StatementCache.changeOne(statements.bound(SqlTemplate.RAISE_FLOOR, token));
    }

    /** Drops a resource. Its last token raises the floor, above which resources without a row start. */
    public void drop(ResourceRow resource) throws SQLException {
        raiseFloor(resource.lastToken);
        StatementCache.changeOne(statements.bound(SqlTemplate.DROP_RESOURCE, resource.key));
    }

    // Sessions

    /** The row of a session; null if there is none. */
    @Nullable
    public SessionRow session(long id) throws SQLException {
        return StatementCache.first(statements.bound(SqlTemplate.SESSION, id), row -> session(id, row, 1));
    }

    /** The session of a row that has the columns of {@link SqlTemplate#SESSION}, the first one at {@code from}. */
    public static SessionRow session(long id, ResultSet row, int from) throws SQLException {
        byte[] label = row.getBytes(from + 2);
        SessionRow session = new SessionRow(
                id,
                row.getLong(from),
                row.getLong(from + 1),
                label == null ? "" : new String(label, StandardCharsets.UTF_8),
                row.getLong(from + 3),
                row.getLong(from + 4));
        if (session.ttl <= 0 || session.epoch < 0 || session.deadline < 0) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the row of session " + SessionRow.idOf(id) + " is damaged: its ttl is " + session.ttl
                            + ", its epoch " + session.epoch + " and its deadline " + session.deadline
                            + "; nothing was changed. Repair it by hand: " + StatementCache.WHAT_TO_DO,
                    null);
        }
        return session;
    }

    public void add(SessionRow session) throws SQLException {
        StatementCache.changeOne(statements.bound(
                SqlTemplate.ADD_SESSION,
                session.client,
                session.ttl,
                session.label,
                session.epoch,
                session.deadline,
                session.id));
    }

    public void save(SessionRow session) throws SQLException {
        StatementCache.changeOne(
                statements.bound(SqlTemplate.SAVE_SESSION, session.epoch, session.deadline, session.id));
    }

    public void drop(SessionRow session) throws SQLException {
        StatementCache.changeOne(statements.bound(SqlTemplate.DROP_SESSION, session.id));
    }

    /** Ends a session; its claims are dropped later. */
    public void end(long id) throws SQLException {
        statements.bound(SqlTemplate.END_SESSION, SessionRow.RETIRED, id).executeUpdate();
    }

    /** Drops the row of a session that has ended and has no claims. */
    public void forget(long id) throws SQLException {
        statements.bound(SqlTemplate.FORGET_SESSION, id).executeUpdate();
    }

    /** Sessions that have expired. */
    public List<Long> sessionsOver(long now, int limit) throws SQLException {
        return StatementCache.numbers(statements.bound(SqlTemplate.SESSIONS_OVER, now, limit));
    }

    /** Sessions that have ended and have no claims. */
    public List<Long> sessionsUnused(int limit) throws SQLException {
        return StatementCache.numbers(statements.bound(SqlTemplate.SESSIONS_UNUSED, limit));
    }
}
