package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.jdbc.server.LockWait;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The fast path on PostgreSQL. Statements skip locked rows, or lock rows in an order that prevents deadlocks. */
final class PostgresFastPath extends ServerFastPath {

    /** Makes the commit of a statement's transaction not wait for the disk. */
    static final String LATE = "set_config('synchronous_commit', 'off', true)";

    /** Limits the lock waits of a statement's transaction to {@link LockWait#BRIEF}. */
    private static final String BRIEFLY = "set_config('lock_timeout', '200', true)";

    /**
     * The parameters of {@link PostgresArrayBinder#acquires}, with types, because a driver may send values without
     * them.
     */
    static final String ACQUIRES = "unnest(?::bytea[]" + ", ?::bigint[]".repeat(7) + ")";

    private final boolean mustSkip;
    private final PostgresHandOver handOver;
    private final PostgresEnqueue enqueue;
    private final PostgresBatchExchange batchExchange;
    private final PostgresFirstUse firstUse;
    private final String take;
    private final String takeAll;
    private final String releaseOne;
    private final String releaseAll;
    private final String releaseOneLate;
    private final String releaseAllLate;
    private final String exchange;

    /**
     * Builds the statements.
     *
     * @param mustSkip whether a statement must skip locked rows, because nothing else limits its waits
     * @param joins whether the driver sends statements of one text in one round trip
     * @param channel the prefix of the channels that notify other clients
     * @param client the number of this client, whose notification is in the result
     */
    PostgresFastPath(
            SqlTemplates templates, String clock, boolean mustSkip, boolean joins, String channel, long client) {
        this.mustSkip = mustSkip;
        boolean waits = joins && !mustSkip;
        this.handOver = new PostgresHandOver(templates, clock, channel, client, waits);
        this.enqueue = new PostgresEnqueue(templates, clock, waits);
        this.batchExchange = new PostgresBatchExchange(templates, clock);
        String first = floor("s.now", "/");
        String grant = " SET session = v.session, claim = v.claim, weight = v.weight, first_token = " + first
                + ", end_token = " + first + " + v.wanted - 1, last_token = " + first
                + " + v.wanted - 1, ends = CASE v.length WHEN 0 THEN 0 ELSE s.now + v.length END, seq = 0";
        String free =
                " AND r.session = 0 AND r.grants = 0 AND r.waiters = 0 AND r.spec = v.spec" + " AND " + isSane(first);
        String values = "SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim, ?::bigint AS weight,"
                + " ?::bigint AS spec, ?::bigint AS length, ?::bigint AS wanted, ?::bigint AS epoch";
        this.firstUse = new PostgresFirstUse(templates, clock, values, mustSkip ? " AND " + BRIEFLY + " <> ''" : "");
        String session = "SELECT id, epoch, " + clock + " AS now FROM holdfast_session"
                + " WHERE id = ? AND deadline > " + clock + " FOR SHARE";
        take = templates.of("UPDATE holdfast_resource r" + grant + " FROM (" + values + ") v, (" + session + ") s"
                + " WHERE r.name = v.name AND s.epoch <= v.epoch" + free + " RETURNING r.first_token");
        String isOwned = " r.session = v.session AND r.claim = v.claim AND r.waiters = 0 AND (r.ends <= 0 OR r.ends > "
                + clock + ") AND EXISTS (SELECT 1 FROM holdfast_session s WHERE s.id = v.session AND s.deadline > "
                + clock + ")";
        String releasing = "UPDATE holdfast_resource r SET session = 0"
                + " FROM (SELECT ?::bytea AS name, ?::bigint AS session, ?::bigint AS claim) v"
                + " WHERE r.name = v.name AND" + isOwned + " RETURNING ";
        releaseOne = templates.of(releasing + "true");
        releaseOneLate = templates.of(releasing + LATE);
        String releasesText = releasesText(isOwned);
        String acquiresText = acquiresText(clock, free, grant);
        releaseAll = templates.of("WITH " + releasesText + " SELECT * FROM given");
        releaseAllLate = templates.of("WITH " + releasesText + " SELECT *, " + LATE + " FROM given");
        takeAll = templates.of("WITH " + acquiresText + " SELECT * FROM taken");
        exchange = templates.of(
                "WITH " + releasesText + ", " + acquiresText + " SELECT * FROM given UNION ALL SELECT * FROM taken");
    }

    // A batch returns the positions of the commands it executed: releases count from 1, acquires from -1. Each row is
    // looked up on its own: a join would compare all pairs if the table was small when it was analysed.

    private static String releasesText(String isOwned) {
        return "back AS (SELECT * FROM unnest(?::bytea[], ?::bigint[], ?::bigint[]) WITH ORDINALITY"
                + " AS v (name, session, claim, n)),"
                + " owned AS MATERIALIZED (SELECT r.name, v.n FROM back v,"
                + " LATERAL (SELECT r.name FROM holdfast_resource r WHERE r.name = v.name AND" + isOwned
                + " FOR UPDATE SKIP LOCKED) r),"
                + " given AS (UPDATE holdfast_resource r SET session = 0 FROM owned WHERE r.name = owned.name"
                + " RETURNING owned.n, 0::bigint)";
    }

    private static String acquiresText(String clock, String free, String grant) {
        return "v AS (SELECT * FROM " + ACQUIRES + " WITH ORDINALITY"
                + " AS v (name, session, claim, weight, spec, length, wanted, epoch, n)),"
                // If nothing can be granted, no session is locked, because that would be a write.
                + " s AS MATERIALIZED (SELECT id, epoch, " + clock + " AS now FROM holdfast_session"
                + " WHERE EXISTS (SELECT 1 FROM v"
                + " WHERE (SELECT r.session = 0 FROM holdfast_resource r WHERE r.name = v.name))"
                + " AND id = ANY (?) AND deadline > " + clock + " ORDER BY id FOR SHARE),"
                + " free AS MATERIALIZED (SELECT v.*, s.now FROM v JOIN s ON s.id = v.session AND s.epoch <= v.epoch,"
                + " LATERAL (SELECT 1 FROM holdfast_resource r WHERE r.name = v.name" + free
                + " FOR UPDATE SKIP LOCKED) r),"
                + " taken AS (UPDATE holdfast_resource r" + grant.replace("s.now", "v.now")
                + " FROM free v WHERE r.name = v.name RETURNING -v.n, r.first_token)";
    }

    /**
     * The condition that a row is valid and its counter is not ahead of the clock. The ledger reports what is wrong
     * with an invalid row.
     */
    static String isSane(String first) {
        return "r.capacity = r.spec >> 16 AND r.shared = 0 AND r.last_token >= 0 AND r.last_token < " + first + " AND "
                + first + " <= " + LARGEST_FIRST;
    }

    @Override
    public boolean waitsForRows() {
        return !mustSkip;
    }

    @Override
    @Nullable
    public HandedOver handOver(StatementCache statements, ClaimRef grant, @Nullable Acquire next) throws SQLException {
        return handOver.tryIt(statements, grant, next);
    }

    @Override
    public Reply.@Nullable Queued queue(StatementCache statements, Acquire acquire) throws SQLException {
        return enqueue.tryIt(statements, acquire);
    }

    /** A statement changes a row only once, so a lock that is released and acquired needs a second statement. */
    @Override
    public boolean isOneStatement(List<Release> releases, List<Acquire> acquires) {
        if (releases.isEmpty() || acquires.isEmpty()) {
            return true;
        }
        Set<ResourceName> names = releases.stream().map(Release::resource).collect(Collectors.toSet());
        return acquires.stream().noneMatch(acquire -> names.contains(acquire.resource()));
    }

    @Override
    public List<@Nullable Reply> takeUnused(StatementCache statements, List<Acquire> acquires) throws SQLException {
        return firstUse.take(statements, acquires);
    }

    @Override
    public List<@Nullable Reply> carryOut(StatementCache statements, List<Release> releases, List<Acquire> acquires)
            throws SQLException {
        if (isOneStatement(releases, acquires)) {
            return byOneStatement(statements, releases, acquires, true);
        }
        List<@Nullable Reply> replies = new ArrayList<>(byOneStatement(statements, releases, List.of(), false));
        Set<ResourceName> unreleased = new HashSet<>();
        for (int i = 0; i < releases.size(); i++) {
            if (replies.get(i) == null) {
                unreleased.add(releases.get(i).resource());
            }
        }
        List<Acquire> free = acquires.stream()
                .filter(acquire -> !unreleased.contains(acquire.resource()))
                .toList();
        Iterator<? extends @Nullable Reply> taken =
                byOneStatement(statements, List.of(), free, false).iterator();
        for (Acquire acquire : acquires) {
            replies.add(unreleased.contains(acquire.resource()) ? null : taken.next());
        }
        return replies;
    }

    /**
     * Executes commands with one statement; the names are distinct.
     *
     * @param isWhole whether the statement is the whole transaction
     */
    private List<@Nullable Reply> byOneStatement(
            StatementCache statements, List<Release> releases, List<Acquire> acquires, boolean isWhole)
            throws SQLException {
        boolean isLate = isWhole && acquires.isEmpty();
        int count = releases.size() + acquires.size();
        if (count == 0) {
            return List.of();
        }
        if (count == 1 && !mustSkip) {
            return Collections.singletonList(
                    releases.isEmpty()
                            ? take(statements, acquires.get(0))
                            : release(statements, releases.get(0), isLate));
        }
        if (isWhole && !mustSkip && PostgresBatchExchange.isFit(releases, acquires)) {
            return batchExchange.carryOut(statements, releases, acquires);
        }
        String releaseText = isLate ? releaseAllLate : releaseAll;
        PreparedStatement update =
                statements.prepare(acquires.isEmpty() ? releaseText : releases.isEmpty() ? takeAll : exchange);
        PostgresArrayBinder all = new PostgresArrayBinder(update);
        if (!releases.isEmpty()) {
            all.claims(releases, Release::claim);
        }
        if (!acquires.isEmpty()) {
            all.acquires(acquires);
            all.sessions(acquires);
        }
        @Nullable Reply[] replies = new @Nullable Reply[count];
        try (ResultSet row = update.executeQuery()) {
            while (row.next()) {
                int place = (int) row.getLong(1);
                if (place > 0) {
                    replies[place - 1] = RELEASED;
                } else {
                    Acquire acquire = acquires.get(-place - 1);
                    replies[releases.size() - place - 1] = granted(acquire, row.getLong(2));
                }
            }
        }
        return Arrays.asList(replies);
    }

    @Override
    @Nullable
    public Reply take(StatementCache statements, Acquire acquire) throws SQLException {
        if (mustSkip) {
            return super.take(statements, acquire);
        }
        PreparedStatement update = statements.prepare(take);
        set(update, acquire);
        update.setLong(9, SessionRow.numberOf(acquire.claim().session()));
        try (ResultSet row = update.executeQuery()) {
            return row.next() ? granted(acquire, row.getLong(1)) : null;
        }
    }

    /** Sets the first eight values of a statement. */
    static void set(PreparedStatement statement, Acquire acquire) throws SQLException {
        statement.setBytes(1, acquire.resource().utf8());
        statement.setLong(2, SessionRow.numberOf(acquire.claim().session()));
        statement.setLong(3, acquire.claim().claim());
        statement.setLong(4, acquire.weight());
        statement.setLong(5, ColumnCodes.of(acquire.spec()));
        statement.setLong(6, Micros.of(acquire.lease().length()));
        statement.setLong(7, acquire.tokens());
        statement.setLong(8, acquire.epoch());
    }

    @Override
    @Nullable
    public Reply release(StatementCache statements, Release release) throws SQLException {
        return mustSkip ? super.release(statements, release) : release(statements, release, true);
    }

    @Override
    @Nullable
    public Reply takeUnused(StatementCache statements, Acquire acquire) throws SQLException {
        return firstUse.take(statements, acquire);
    }

    private @Nullable Reply release(StatementCache statements, Release release, boolean isLate) throws SQLException {
        PreparedStatement update = statements.prepare(isLate ? releaseOneLate : releaseOne);
        update.setBytes(1, release.resource().utf8());
        update.setLong(2, SessionRow.numberOf(release.claim().session()));
        update.setLong(3, release.claim().claim());
        try (ResultSet row = update.executeQuery()) {
            return row.next() ? RELEASED : null;
        }
    }
}
