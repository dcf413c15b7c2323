package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.jdbc.server.BatchKey;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The fast path on MySQL and MariaDB. One command is an update by primary key joined with the session's row, which it
 * locks too, so that it stays unchanged until the commit. Several commands of one session that are equal except for
 * names and claims, as they nearly always are, are also one update; see {@link MysqlBatchExchange}.
 *
 * <p>The first token comes back as the generated key, which costs no further round trip; the last one follows from it.
 * All grants of a statement have the same time and so the same first token.
 */
final class MysqlFastPath extends ServerFastPath {

    /**
     * The rows of one command, for MySQL on a lent connection with a lock-wait limit that is not ours: the statement
     * fails at once if a row is locked. An update has no syntax for that, but its subqueries have, if they are not
     * merged into it.
     */
    private static final String UNLESS_LOCKED = "/*+ NO_MERGE(s) */ holdfast_resource r JOIN"
            + " (SELECT id, epoch, deadline FROM holdfast_session WHERE id = ? FOR SHARE NOWAIT) s";

    /** As above. MySQL can read the table that it updates only in a nested subquery. */
    private static final String NAME_UNLESS_LOCKED = "r.name = (SELECT n.name FROM"
            + " (SELECT name FROM holdfast_resource WHERE name = ? FOR UPDATE NOWAIT) n)";

    private final String hurry;
    private final boolean needsTransaction;
    private final String take;
    private final String releaseOne;
    private final MysqlBatchExchange exchange;
    private final MysqlFirstUse firstUse;
    private final @Nullable MysqlHandOver handOver;

    /** Distinguishes rows that a statement has released from those free before; each statement uses the next number. */
    private long mark = Randomness.nextLong() >>> 2;

    /**
     * Builds the statements.
     *
     * @param hurry a prefix that makes a statement fail at once if a row is locked; empty if there is none
     * @param needsTransaction whether only a transaction limits the lock waits of several commands and of inserts
     * @param handOver null if the server has no compound statements, or the connection is lent
     */
    MysqlFastPath(
            SqlTemplates templates,
            String clock,
            String hurry,
            boolean needsTransaction,
            @Nullable MysqlHandOver handOver) {
        this.handOver = handOver;
        this.hurry = hurry;
        this.needsTransaction = needsTransaction;
        this.exchange = new MysqlBatchExchange(templates, clock, hurry);
        this.firstUse = new MysqlFirstUse(templates, clock, hurry);
        String first = floor(clock, "DIV");
        String last = first + " + ? - 1";
        String update = hurry + "UPDATE "
                + (needsTransaction ? UNLESS_LOCKED : "holdfast_resource r JOIN holdfast_session s ON s.id = ?");
        String name = needsTransaction ? NAME_UNLESS_LOCKED : "r.name = ?";
        take = templates.of(
                update + " SET r.session = ?, r.claim = ?, r.weight = ?, r.first_token = LAST_INSERT_ID(" + first
                        + "), r.end_token = " + last + ", r.last_token = " + last
                        + ", r.ends = CASE ? WHEN 0 THEN 0 ELSE " + clock + " + ? END, r.seq = 0"
                        + " WHERE " + name + " AND s.epoch <= ? AND s.deadline > " + clock + " AND r.spec = ? AND "
                        + MysqlBatchExchange.free(first));
        releaseOne = templates.of(update + " SET r.session = 0"
                + " WHERE " + name + " AND r.session = ? AND r.claim = ? AND s.deadline > " + clock + " AND "
                + MysqlBatchExchange.unended(clock));
    }

    @Override
    public boolean waitsForRows() {
        return hurry.isEmpty();
    }

    /**
     * The results of several releases can only be read reliably before the commit, after which others may acquire the
     * locks.
     */
    @Override
    public boolean isOneStatement(List<Release> releases, List<Acquire> acquires) {
        return releases.size() + acquires.size() == 1 || (releases.isEmpty() && isOneStatementIfUnused(acquires));
    }

    @Override
    public boolean isOneStatementIfUnused(List<Acquire> acquires) {
        return !needsTransaction
                && acquires.stream().map(BatchKey::of).distinct().count() == 1;
    }

    @Override
    public List<@Nullable Reply> carryOut(StatementCache statements, List<Release> releases, List<Acquire> acquires)
            throws SQLException {
        List<@Nullable Reply> replies = new ArrayList<>(releases.size() + acquires.size());
        if (releases.size() + acquires.size() == 1) {
            replies.add(releases.isEmpty() ? take(statements, acquires.get(0)) : release(statements, releases.get(0)));
            return replies;
        }
        Map<Command, Reply> done = new HashMap<>();
        exchangeAll(statements, releases, acquires, done);
        releases.forEach(release -> replies.add(done.get(release)));
        acquires.forEach(acquire -> replies.add(done.get(acquire)));
        return replies;
    }

    @Override
    public List<@Nullable Reply> takeUnused(StatementCache statements, List<Acquire> acquires) throws SQLException {
        Map<Command, Reply> done = new HashMap<>();
        for (List<Acquire> alike :
                acquires.stream().collect(Collectors.groupingBy(BatchKey::of)).values()) {
            answer(firstUse.make(statements, alike), statements, List.of(), alike, done);
        }
        return acquires.stream().<@Nullable Reply>map(done::get).toList();
    }

    @Override
    @Nullable
    public Reply takeUnused(StatementCache statements, Acquire acquire) throws SQLException {
        MysqlBatchExchange.Outcome outcome = firstUse.make(statements, acquire);
        return outcome.count() == 0 ? null : granted(acquire, outcome.first());
    }

    @Override
    @Nullable
    public Reply take(StatementCache statements, Acquire acquire) throws SQLException {
        long session = SessionRow.numberOf(acquire.claim().session());
        long lease = Micros.of(acquire.lease().length());
        PreparedStatement update = statements.prepareWithKeys(take);
        update.setLong(1, session);
        update.setLong(2, session);
        update.setLong(3, acquire.claim().claim());
        update.setLong(4, acquire.weight());
        update.setLong(5, acquire.tokens());
        update.setLong(6, acquire.tokens());
        update.setLong(7, lease);
        update.setLong(8, lease);
        update.setBytes(9, acquire.resource().utf8());
        update.setLong(10, acquire.epoch());
        update.setLong(11, ColumnCodes.of(acquire.spec()));
        return update.executeUpdate() == 0 ? null : granted(acquire, MysqlBatchExchange.key(update));
    }

    @Override
    @Nullable
    public HandedOver handOver(StatementCache statements, ClaimRef grant, @Nullable Acquire next) throws SQLException {
        return handOver == null ? null : handOver.tryIt(statements, grant, next);
    }

    @Override
    @Nullable
    public Reply release(StatementCache statements, Release release) throws SQLException {
        PreparedStatement update = statements.prepare(releaseOne);
        long session = SessionRow.numberOf(release.claim().session());
        update.setLong(1, session);
        update.setBytes(2, release.resource().utf8());
        update.setLong(3, session);
        update.setLong(4, release.claim().claim());
        return update.executeUpdate() > 0 ? RELEASED : null;
    }

    private void exchangeAll(
            StatementCache statements, List<Release> releases, List<Acquire> acquires, Map<Command, Reply> done)
            throws SQLException {
        Map<Long, List<Release>> releasesBySession = releases.stream()
                .collect(Collectors.groupingBy(
                        release -> SessionRow.numberOf(release.claim().session())));
        Set<ResourceName> names = releases.stream().map(Release::resource).collect(Collectors.toSet());
        Map<BatchKey, List<Acquire>> wanted = new HashMap<>();
        Map<BatchKey, List<Acquire>> later = new HashMap<>();
        for (Acquire acquire : acquires) {
            (names.contains(acquire.resource()) ? later : wanted)
                    .computeIfAbsent(BatchKey.of(acquire), alike -> new ArrayList<>())
                    .add(acquire);
        }
        for (Map.Entry<BatchKey, List<Acquire>> alike : wanted.entrySet()) {
            List<Release> with = releasesBySession.remove(alike.getKey().session());
            exchange(statements, with == null ? List.of() : with, alike.getValue(), done);
        }
        for (List<Release> rest : releasesBySession.values()) {
            exchange(statements, rest, List.of(), done);
        }
        // Locks that are released and acquired in one batch are acquired by a separate statement, if they are free.
        Set<ResourceName> free = done.keySet().stream()
                .filter(Release.class::isInstance)
                .map(command -> ((Release) command).resource())
                .collect(Collectors.toSet());
        for (List<Acquire> alike : later.values()) {
            alike.removeIf(acquire -> !free.contains(acquire.resource()));
            if (!alike.isEmpty()) {
                exchange(statements, List.of(), alike, done);
            }
        }
    }

    private void exchange(
            StatementCache statements, List<Release> releases, List<Acquire> acquires, Map<Command, Reply> done)
            throws SQLException {
        mark++;
        answer(exchange.carryOut(statements, releases, acquires, mark), statements, releases, acquires, done);
    }

    private void answer(
            MysqlBatchExchange.Outcome outcome,
            StatementCache statements,
            List<Release> releases,
            List<Acquire> acquires,
            Map<Command, Reply> done)
            throws SQLException {
        if (outcome.count() == releases.size() + acquires.size()) {
            releases.forEach(release -> done.put(release, RELEASED));
            acquires.forEach(acquire -> done.put(acquire, granted(acquire, outcome.first())));
        } else if (outcome.count() > 0) {
            compare(statements, releases, acquires, outcome.first(), done);
        }
    }

    /**
     * Determines which commands the last statement has executed.
     *
     * @param first the first token of the blocks that it granted, if any; no other block of the same resource begins
     *     there
     */
    private void compare(
            StatementCache statements,
            List<Release> releases,
            List<Acquire> acquires,
            long first,
            Map<Command, Reply> done)
            throws SQLException {
        Map<ResourceName, Command> commands = new HashMap<>();
        releases.forEach(release -> commands.put(release.resource(), release));
        acquires.forEach(acquire -> commands.put(acquire.resource(), acquire));
        PreparedStatement select = MysqlProduct.ofKeys(
                statements,
                "SELECT name, session, claim, first_token, seq FROM holdfast_resource WHERE name IN ",
                "",
                commands.keySet().stream().map(ResourceName::utf8).toList());
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                Command command = commands.get(StatementCache.name(row.getBytes(1)));
                long session = row.getLong(2);
                if (command instanceof Release release && session == 0 && row.getLong(5) == mark) {
                    done.put(release, RELEASED);
                } else if (command instanceof Acquire acquire
                        && session == SessionRow.numberOf(acquire.claim().session())
                        && row.getLong(3) == acquire.claim().claim()
                        && row.getLong(4) == first) {
                    done.put(acquire, granted(acquire, first));
                }
            }
        }
    }
}
