package dev.holdfast.store.sql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Advance;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.TokenBlock;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The fast path on PostgreSQL. Rows that others have locked are passed over, so that no statement waits for another in a circle. */
final class PostgresFastPath extends ServerFastPath {

    private final boolean mustSkip;
    private final String take;
    private final String takeAll;
    private final String giveBack;
    private final String giveAllBack;
    private final String goOn;

    /** @param mustSkip whether nothing but passing over locked rows keeps a statement from waiting for them for long */
    PostgresFastPath(Texts texts, String clock, boolean mustSkip) {
        this.mustSkip = mustSkip;
        String first = floor("s.now", "/");
        String grant = " SET session = v.session, claim = v.claim, weight = v.weight, first_token = " + first
                + ", end_token = " + first + " + v.wanted - 1, last_token = " + first
                + " + v.wanted - 1, ends = CASE v.length WHEN 0 THEN 0 ELSE s.now + v.length END, seq = 0";
        String free = " AND r.session = 0 AND r.grants = 0 AND r.waiters = 0 AND r.spec = v.spec"
                // A row that makes no sense is not free: the long way says what is wrong with it.
                + " AND r.capacity = r.spec >> 16 AND r.shared = 0 AND r.last_token >= 0 AND r.last_token < " + first
                + " AND " + first + " <= " + LARGEST_FIRST;
        String values = "SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim, ?::bigint AS weight,"
                + " ?::bigint AS spec, ?::bigint AS length, ?::bigint AS wanted, ?::bigint AS epoch";
        String session = "SELECT id, epoch, " + clock + " AS now FROM holdfast_session"
                + " WHERE id = ? AND deadline > " + clock + " FOR SHARE";
        take = texts.of("UPDATE holdfast_resource r" + grant + " FROM (" + values + ") v, (" + session + ") s"
                + " WHERE r.name = v.name AND s.epoch <= v.epoch" + free + " RETURNING r.first_token");
        takeAll = texts.of("WITH v AS (SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?)"
                + " AS v (name, session, claim, weight, spec, length, wanted, epoch)),"
                + " s AS MATERIALIZED (SELECT id, epoch, " + clock + " AS now FROM holdfast_session"
                + " WHERE id = ANY (?) AND deadline > " + clock + " ORDER BY id FOR SHARE),"
                + " f AS MATERIALIZED (SELECT r.name FROM v JOIN holdfast_resource r ON r.name = v.name"
                + " JOIN s ON s.id = v.session AND s.epoch <= v.epoch WHERE true" + free
                + " FOR UPDATE OF r SKIP LOCKED)"
                + " UPDATE holdfast_resource r" + grant
                + " FROM f JOIN v ON v.name = f.name JOIN s ON s.id = v.session"
                + " WHERE r.name = f.name RETURNING r.name, r.first_token");
        String given = " r.session = v.session AND r.claim = v.claim AND r.waiters = 0 AND (r.ends <= 0 OR r.ends > "
                + clock + ") AND EXISTS (SELECT 1 FROM holdfast_session s WHERE s.id = v.session AND s.deadline > "
                + clock + ")";
        giveBack = texts.of("UPDATE holdfast_resource r SET session = 0"
                + " FROM (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim) v"
                + " WHERE r.name = v.name AND" + given);
        giveAllBack = texts.of("WITH v AS (SELECT * FROM unnest(?, ?, ?) AS v (name, session, claim)),"
                + " f AS MATERIALIZED (SELECT r.name FROM v JOIN holdfast_resource r ON r.name = v.name WHERE" + given
                + " FOR UPDATE OF r SKIP LOCKED)"
                + " UPDATE holdfast_resource r SET session = 0 FROM f WHERE r.name = f.name RETURNING r.name");
        String above = "greatest(r.last_token, v.above)";
        goOn = texts.of("UPDATE holdfast_resource r SET " + block("v.now", above, "v.wanted", "greatest", "least")
                + " FROM (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim, ?::bigint AS block,"
                + " ?::bigint AS wanted, ?::bigint AS above, " + floor(clock, "/") + " AS now) v"
                + " WHERE r.name = v.name AND r.session = v.session AND r.claim = v.claim AND r.end_token = v.block"
                + " AND r.last_token >= r.end_token AND " + isLevel("v.now", above)
                + " AND (r.ends <= 0 OR r.ends > " + clock + ")"
                + " AND EXISTS (SELECT 1 FROM holdfast_session s WHERE s.id = v.session AND s.deadline > " + clock + ")"
                + " AND " + Sql.noneOrLiveWaiters(clock)
                + " RETURNING r.first_token, r.end_token, r.waiters > 0");
    }

    @Override
    Reply.@Nullable Advanced advance(Statements statements, Advance advance) throws SQLException {
        if (mustSkip) {
            return null;
        }
        PreparedStatement update = statements.prepare(goOn);
        update.setBytes(1, advance.resource().utf8());
        update.setLong(2, Session.numberOf(advance.claim().session()));
        update.setLong(3, advance.claim().claim());
        update.setLong(4, advance.blockEnd());
        update.setLong(5, advance.tokens());
        update.setLong(6, advance.atLeast());
        try (ResultSet row = update.executeQuery()) {
            return row.next()
                    ? new Reply.Advanced(new TokenBlock(row.getLong(1), row.getLong(2)), row.getBoolean(3))
                    : null;
        }
    }

    @Override
    boolean isOneStatement(List<Release> releases, List<Acquire> acquires) {
        return releases.isEmpty() || acquires.isEmpty();
    }

    @Override
    List<@Nullable Reply> carryOut(Statements statements, List<Release> releases, List<Acquire> acquires)
            throws SQLException {
        List<@Nullable Reply> replies = new ArrayList<>(releases.size() + acquires.size());
        Set<ResourceName> kept = new HashSet<>();
        if (!releases.isEmpty()) {
            replies.addAll(giveBack(statements, releases));
            for (int i = 0; i < releases.size(); i++) {
                if (replies.get(i) == null) {
                    kept.add(releases.get(i).resource());
                }
            }
        }
        List<Acquire> free = acquires.stream()
                .filter(acquire -> !kept.contains(acquire.resource()))
                .toList();
        Iterator<? extends @Nullable Reply> taken =
                (free.isEmpty() ? List.<@Nullable Reply>of() : take(statements, free)).iterator();
        for (Acquire acquire : acquires) {
            replies.add(kept.contains(acquire.resource()) ? null : taken.next());
        }
        return replies;
    }

    private List<Reply.@Nullable Granted> take(Statements statements, List<Acquire> acquires) throws SQLException {
        if (acquires.size() > 1 || mustSkip) {
            return takeAll(statements, acquires);
        }
        Acquire acquire = acquires.get(0);
        long session = Session.numberOf(acquire.claim().session());
        PreparedStatement update = statements.prepare(take);
        update.setBytes(1, acquire.resource().utf8());
        update.setLong(2, session);
        update.setLong(3, acquire.claim().claim());
        update.setLong(4, acquire.weight());
        update.setLong(5, Codes.of(acquire.spec()));
        update.setLong(6, Micros.of(acquire.lease().length()));
        update.setLong(7, acquire.tokens());
        update.setLong(8, acquire.epoch());
        update.setLong(9, session);
        List<Reply.@Nullable Granted> replies = new ArrayList<>(1);
        try (ResultSet row = update.executeQuery()) {
            replies.add(row.next() ? granted(acquire, row.getLong(1)) : null);
        }
        return replies;
    }

    private List<Reply.@Nullable Granted> takeAll(Statements statements, List<Acquire> acquires) throws SQLException {
        PreparedStatement update = statements.prepare(takeAll);
        setNames(statements, update, acquires, acquire -> acquire.resource().utf8());
        setNumbers(
                statements,
                update,
                2,
                acquires,
                acquire -> Session.numberOf(acquire.claim().session()));
        setNumbers(statements, update, 3, acquires, acquire -> acquire.claim().claim());
        setNumbers(statements, update, 4, acquires, acquire -> (long) acquire.weight());
        setNumbers(statements, update, 5, acquires, acquire -> Codes.of(acquire.spec()));
        setNumbers(
                statements,
                update,
                6,
                acquires,
                acquire -> Micros.of(acquire.lease().length()));
        setNumbers(statements, update, 7, acquires, acquire -> (long) acquire.tokens());
        setNumbers(statements, update, 8, acquires, Acquire::epoch);
        List<Long> sessions = acquires.stream()
                .map(acquire -> Session.numberOf(acquire.claim().session()))
                .distinct()
                .toList();
        setNumbers(statements, update, 9, sessions, session -> session);
        List<Reply.@Nullable Granted> replies = new ArrayList<>(acquires.size());
        acquires.forEach(acquire -> replies.add(null));
        try (ResultSet row = update.executeQuery()) {
            while (row.next()) {
                byte[] name = row.getBytes(1);
                for (int i = 0; i < acquires.size(); i++) {
                    if (Arrays.equals(acquires.get(i).resource().utf8(), name)) {
                        replies.set(i, granted(acquires.get(i), row.getLong(2)));
                    }
                }
            }
        }
        return replies;
    }

    private List<Reply.@Nullable Released> giveBack(Statements statements, List<Release> releases) throws SQLException {
        List<Reply.@Nullable Released> replies = new ArrayList<>(releases.size());
        if (releases.size() == 1 && !mustSkip) {
            Release release = releases.get(0);
            PreparedStatement update = statements.prepare(giveBack);
            update.setBytes(1, release.resource().utf8());
            update.setLong(2, Session.numberOf(release.claim().session()));
            update.setLong(3, release.claim().claim());
            replies.add(update.executeUpdate() == 1 ? RELEASED : null);
            return replies;
        }
        PreparedStatement update = statements.prepare(giveAllBack);
        setNames(statements, update, releases, release -> release.resource().utf8());
        setNumbers(
                statements,
                update,
                2,
                releases,
                release -> Session.numberOf(release.claim().session()));
        setNumbers(statements, update, 3, releases, release -> release.claim().claim());
        List<byte[]> found = new ArrayList<>();
        try (ResultSet row = update.executeQuery()) {
            while (row.next()) {
                found.add(row.getBytes(1));
            }
        }
        for (Release release : releases) {
            byte[] name = release.resource().utf8();
            replies.add(found.stream().anyMatch(one -> Arrays.equals(one, name)) ? RELEASED : null);
        }
        return replies;
    }

    private static <T> void setNames(
            Statements statements, PreparedStatement to, List<T> from, Function<T, byte[]> what) throws SQLException {
        to.setArray(
                1,
                statements
                        .connection()
                        .createArrayOf("bytea", from.stream().map(what).toArray(byte[][]::new)));
    }

    private static <T> void setNumbers(
            Statements statements, PreparedStatement to, int place, List<T> from, Function<T, Long> what)
            throws SQLException {
        to.setArray(
                place,
                statements
                        .connection()
                        .createArrayOf("bigint", from.stream().map(what).toArray()));
    }
}
