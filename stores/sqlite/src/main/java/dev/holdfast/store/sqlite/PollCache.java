package dev.holdfast.store.sqlite;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.WaitCondition;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Cache of what polled claims wait for. While the file has not changed, the holders that block a claim are alive, and
 * none of their leases has expired, the claim still waits, and its rows are not read. After a change, one statement for
 * each claim checks that all these holders are alive; if it finds no row, {@link LedgerExecutor} polls the claim by
 * the full rules.
 *
 * <p>Not thread-safe.
 */
final class PollCache {

    private static final String LOOK = "SELECT h.client, q.client, o.ttl, w.place = f.place,"
            + " min(o.deadline, h.deadline, q.deadline, CASE WHEN r.ends > 0 THEN r.ends ELSE h.deadline END)"
            + " FROM holdfast_claim w"
            + " JOIN holdfast_session o ON o.id = w.session"
            + " JOIN holdfast_resource r ON r.name = w.name"
            + " JOIN holdfast_session h ON h.id = r.session"
            + " JOIN holdfast_claim f ON f.name = w.name AND f.granted = 0"
            + " AND f.place = (SELECT min(place) FROM holdfast_claim WHERE name = ?3 AND granted = 0)"
            + " JOIN holdfast_session q ON q.id = f.session"
            + " WHERE w.session = ?1 AND w.claim = ?2 AND w.name = ?3 AND w.granted = 0 AND r.grants = 0"
            // Otherwise the row of the resource was deleted by hand and inserted again, and the claim is lost.
            + " AND r.waiters > 0 AND r.places >= w.place"
            // The ledger reports what is wrong with an invalid row.
            + " AND r.capacity = r.spec >> 16 AND r.last_token >= r.end_token"
            + " AND o.deadline > ?4 AND h.deadline > ?4 AND q.deadline > ?4 AND (r.ends <= 0 OR r.ends > ?4)";

    /**
     * The version of the file and of this connection: the first number changes with each commit of others, the second
     * with each row that we write.
     */
    private static final String VERSION = "SELECT data_version, total_changes() FROM pragma_data_version";

    private static final long HEAD_RECHECK_MICROS = 40_000;
    private static final long RECHECK_MICROS = 100_000;

    /** Limits polling to one or two per cent of a core, however many claims wait. */
    private static final long RECHECK_MICROS_PER_CLAIM = 250;

    private static final long MAX_RECHECK_MICROS = 1_000_000;

    /** Up to this many claims are read again with each poll that finds a change. */
    private static final int FEW = 32;

    /** For more claims, limits reading to one or two per cent of a core, however often the file changes. */
    private static final long PAUSE_NANOS_PER_CLAIM = 1_000_000;

    private static final long MAX_PAUSE_NANOS = 1_000_000_000;

    private record Version(long ofFile, long ofOwnChanges) {
        static final Version NONE = new Version(-1, -1);
    }

    private final StatementCache statements;
    private final SqliteClients clients;
    private final long own;
    private final BooleanSupplier isTold;

    private final Map<ClaimRef, WaitCondition> waits = new HashMap<>();

    /** The version from which {@link #waits} were read, or an older one. */
    private Version version = Version.NONE;

    private long readAtNanos = SystemClock.nanoTime() - MAX_PAUSE_NANOS;

    /** The number of claims in the last poll, which may be more than are cached yet. */
    private int asked;

    /** @param isTold whether other processes notify us, so that polling is only a fallback */
    PollCache(StatementCache statements, SqliteClients clients, long own, BooleanSupplier isTold) {
        this.statements = statements;
        this.clients = clients;
        this.own = own;
        this.isTold = isTold;
    }

    /** The claims that are known to wait still, without reading all their rows. */
    Map<ClaimRef, Reply.Queued> among(List<ClaimRef> claims, long now) throws SQLException {
        forgetIfChanged(claims);
        asked = claims.size();
        Map<ClaimRef, Reply.Queued> quiet = new HashMap<>();
        for (ClaimRef claim : claims) {
            WaitCondition known = waits.get(claim);
            WaitCondition wait = known != null ? known : read(claim, now);
            if (wait != null && now < wait.until() && areAlive(wait.clients())) {
                waits.put(claim, wait);
                quiet.put(claim, new Reply.Queued(Micros.duration(Math.min(recheck(wait), wait.until() - now))));
            } else {
                waits.remove(claim);
            }
        }
        return quiet;
    }

    /** Caches what a polled claim waits for, as read after {@link #among}. */
    void remember(ClaimRef claim, WaitCondition wait) {
        waits.put(claim, wait);
    }

    /**
     * After how many microseconds a waiter polls again, to detect that a holder's process has ended: the head earlier
     * than the others, which would not be granted anyway, and all later the more there are.
     */
    long recheck(WaitCondition wait) {
        long regular = wait.isHead() ? HEAD_RECHECK_MICROS : RECHECK_MICROS;
        int many = isTold.getAsBoolean() ? Math.max(waits.size(), asked) : 1;
        long forMany = Math.min(many * RECHECK_MICROS_PER_CLAIM, MAX_RECHECK_MICROS);
        return Math.min(Math.max(regular, forMany), wait.ttl() / 3);
    }

    /**
     * After a change, forgets all claims or the polled ones. The version is read before the rows, so the next poll sees
     * a commit in between.
     */
    private void forgetIfChanged(List<ClaimRef> polled) throws SQLException {
        Version present = readVersion();
        if (present.equals(version)) {
            return;
        }
        long now = SystemClock.nanoTime();
        long pause = Math.min(MAX_PAUSE_NANOS, (waits.size() - FEW) * PAUSE_NANOS_PER_CLAIM);
        if (now - readAtNanos >= pause || !isTold.getAsBoolean()) {
            waits.clear();
            version = present;
            readAtNanos = now;
        } else if (polled.size() <= FEW) {
            // A notification may have caused this poll.
            polled.forEach(waits::remove);
        }
    }

    private Version readVersion() throws SQLException {
        try (ResultSet row = statements.prepare(VERSION).executeQuery()) {
            return row.next() ? new Version(row.getLong(1), row.getLong(2)) : Version.NONE;
        }
    }

    private @Nullable WaitCondition read(ClaimRef claim, long now) throws SQLException {
        PreparedStatement select = statements.prepare(LOOK);
        select.setLong(1, SessionRow.numberOf(claim.session()));
        select.setLong(2, claim.claim());
        select.setBytes(3, claim.resource().utf8());
        select.setLong(4, now);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            long holder = row.getLong(1);
            long head = row.getLong(2);
            Set<Long> inTheWay = holder == head ? Set.of(holder) : Set.of(holder, head);
            return new WaitCondition(row.getInt(4) != 0, row.getLong(3), inTheWay, row.getLong(5));
        }
    }

    private boolean areAlive(Set<Long> holders) throws SQLException {
        for (long holder : holders) {
            if (holder != own && clients.isGone(holder)) {
                return false;
            }
        }
        return true;
    }
}
