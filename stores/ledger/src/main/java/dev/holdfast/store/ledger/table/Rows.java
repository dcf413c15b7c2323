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
 * The rows of resources and sessions. Each method is one statement in whatever transaction the connection is in.
 *
 * <p>What is read is checked: a row that makes no sense is somebody's evidence, and is neither overwritten nor taken
 * for a free lock.
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
    public Resource resource(ResourceName name) throws SQLException {
        byte[] key = name.utf8();
        PreparedStatement select = statements.prepare(SqlTemplate.RESOURCE);
        select.setBytes(1, key);
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? resource(new Resource(name, key), row) : null;
        }
    }

    /** The rows of an answer that has the name behind all else. */
    public static List<Resource> resources(ResultSet row) throws SQLException {
        List<Resource> found = new ArrayList<>();
        while (row.next()) {
            byte[] key = row.getBytes(15);
            found.add(resource(new Resource(StatementCache.name(key), key), row));
        }
        return found;
    }

    private static Resource resource(Resource into, ResultSet row) throws SQLException {
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
                    "its grant is claim " + into.claim + " of weight " + into.weight + " with the tokens "
                            + into.firstToken + " to " + into.endToken);
        }
        return into;
    }

    public void save(Resource resource) throws SQLException {
        PreparedStatement write =
                statements.prepare(resource.isStored ? SqlTemplate.SAVE_RESOURCE : SqlTemplate.ADD_RESOURCE);
        setAll(write, 0, resource);
        StatementCache.changeOne(write);
        resource.isStored = true;
        resource.isDirty = false;
    }

    /** Saves a resource whose row is there, at the end of the transaction. */
    public static void save(Resource resource, WriteBatch writes) {
        writes.change(SqlTemplate.SAVE_RESOURCE, (statement, before) -> setAll(statement, before, resource));
        resource.isDirty = false;
    }

    private static void setAll(PreparedStatement write, int before, Resource resource) throws SQLException {
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

    /** The names of the resources with waiters whose inline grant is of a session. */
    public List<ResourceName> contended(long session) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.CONTENDED);
        select.setLong(1, session);
        return StatementCache.names(select);
    }

    /** The names of resources that are in use, or were latches, from one key on up to another. */
    public List<ResourceName> inUse(byte[] from, byte[] to, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.IN_USE);
        select.setBytes(1, from);
        select.setBytes(2, to);
        select.setInt(3, limit);
        return StatementCache.names(select);
    }

    /** An inline grant, as an audit needs it. */
    public record Inline(ResourceName name, long claim, long ends) {
        /** As {@link Claim#isOver}. */
        public boolean isOver(long now) {
            return ends > 0 && ends <= now;
        }
    }

    /** The inline grants of a session whose names are behind a key. */
    public List<Inline> inline(long session, byte[] after, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.INLINE);
        select.setLong(1, session);
        select.setBytes(2, after);
        select.setInt(3, limit);
        List<Inline> found = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                found.add(new Inline(StatementCache.name(row.getBytes(1)), row.getLong(2), row.getLong(3)));
            }
        }
        return found;
    }

    /** No token of a resource without a row is above it. */
    public long floor() throws SQLException {
        try (ResultSet row = statements.prepare(SqlTemplate.FLOOR).executeQuery()) {
            if (row.next()) {
                return row.getLong(1);
            }
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "the table holdfast_meta has no row any more; " + StatementCache.WHAT_TO_DO,
                    null);
        }
    }

    /** A session that has ended, and a name on which it has claims that the resource has not counted. */
    public record Uncounted(long session, @Nullable ResourceName name) {}

    /** The sessions that have ended, behind a number. */
    public List<Uncounted> uncounted(long after, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.UNCOUNTED);
        select.setLong(1, after);
        select.setInt(2, limit);
        List<Uncounted> found = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                byte[] key = row.getBytes(2);
                found.add(new Uncounted(row.getLong(1), key == null ? null : StatementCache.name(key)));
            }
        }
        return found;
    }

    /** A resource that may have rested for long, or that has claims in rows of their own, which may be dead. */
    public record Resting(ResourceName name, long lastToken, boolean hasClaims) {}

    /** The resources behind a key, whatever they are. */
    public List<Resting> names(byte[] after, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.NAMES);
        select.setBytes(1, after);
        select.setInt(2, limit);
        return resting(select);
    }

    private static List<Resting> resting(PreparedStatement select) throws SQLException {
        List<Resting> found = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                found.add(new Resting(StatementCache.name(row.getBytes(1)), row.getLong(2), row.getLong(3) > 0));
            }
        }
        return found;
    }

    /** The resources behind a key whose last token is below that one, or that have claims in rows of their own. */
    public List<Resting> resting(byte[] after, long below, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.RESTING);
        select.setBytes(1, after);
        select.setLong(2, below);
        select.setInt(3, limit);
        return resting(select);
    }

    /** From here on no resource without a row begins below that token. */
    public void raiseFloor(long token) throws SQLException {
        PreparedStatement raise = statements.prepare(SqlTemplate.RAISE_FLOOR);
        raise.setLong(1, token);
        StatementCache.changeOne(raise);
    }

    /** Drops a resource. Its last token is remembered: above it all go on that have no row. */
    public void drop(Resource resource) throws SQLException {
        raiseFloor(resource.lastToken);
        PreparedStatement delete = statements.prepare(SqlTemplate.DROP_RESOURCE);
        delete.setBytes(1, resource.key);
        StatementCache.changeOne(delete);
    }

    // Sessions

    /** The row of a session; null if there is none. */
    @Nullable
    public Session session(long id) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.SESSION);
        select.setLong(1, id);
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? session(id, row) : null;
        }
    }

    /** The session of a row that has the columns of {@link SqlTemplate#SESSION}. */
    public static Session session(long id, ResultSet row) throws SQLException {
        return session(id, row, 1);
    }

    /** The same, of columns that begin further behind. */
    public static Session session(long id, ResultSet row, int from) throws SQLException {
        byte[] label = row.getBytes(from + 2);
        Session session = new Session(
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
                    "the row of session " + Session.idOf(id) + " is damaged: its ttl is " + session.ttl
                            + ", its epoch " + session.epoch + " and its deadline " + session.deadline
                            + "; nothing was changed, and a person must act: " + StatementCache.WHAT_TO_DO,
                    null);
        }
        return session;
    }

    public void add(Session session) throws SQLException {
        PreparedStatement insert = statements.prepare(SqlTemplate.ADD_SESSION);
        insert.setLong(1, session.client);
        insert.setLong(2, session.ttl);
        insert.setString(3, session.label);
        insert.setLong(4, session.epoch);
        insert.setLong(5, session.deadline);
        insert.setLong(6, session.id);
        StatementCache.changeOne(insert);
    }

    public void save(Session session) throws SQLException {
        PreparedStatement update = statements.prepare(SqlTemplate.SAVE_SESSION);
        update.setLong(1, session.epoch);
        update.setLong(2, session.deadline);
        update.setLong(3, session.id);
        StatementCache.changeOne(update);
    }

    public void drop(Session session) throws SQLException {
        PreparedStatement delete = statements.prepare(SqlTemplate.DROP_SESSION);
        delete.setLong(1, session.id);
        StatementCache.changeOne(delete);
    }

    /** Ends a session, and leaves what it has to others. */
    public void end(long id) throws SQLException {
        PreparedStatement update = statements.prepare(SqlTemplate.END_SESSION);
        update.setLong(1, Session.RETIRED);
        update.setLong(2, id);
        update.executeUpdate();
    }

    /** Drops the row of a session that has ended and has no claims. */
    public void forget(long id) throws SQLException {
        PreparedStatement delete = statements.prepare(SqlTemplate.FORGET_SESSION);
        delete.setLong(1, id);
        delete.executeUpdate();
    }

    /** Sessions whose time has come. */
    public List<Long> sessionsOver(long now, int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.SESSIONS_OVER);
        select.setLong(1, now);
        select.setInt(2, limit);
        return StatementCache.numbers(select);
    }

    /** Sessions that have ended and have no claims. */
    public List<Long> sessionsUnused(int limit) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.SESSIONS_UNUSED);
        select.setInt(1, limit);
        return StatementCache.numbers(select);
    }
}
