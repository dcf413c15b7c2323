package dev.holdfast.store.jdbc.mysql;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.LentConnection.UnfitIsolation;
import dev.holdfast.store.jdbc.server.FailoverDetector;
import dev.holdfast.store.jdbc.server.NotificationListener;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.table.Session;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears on MySQL and MariaDB that a claim of this client was let in. They have nothing that tells, but a query that
 * naps can be cut short: while claims wait, one connection has the client's own lock of the server's kind, and naps in
 * a query. Who lets a claim in ends the query of the connection that has that lock, which can be no other: the lock
 * goes when its connection does.
 *
 * <p>A nap begins with a look whether all claims still wait, so that nothing is missed that happened between two naps.
 * If something is found after a nap that nobody cut short, others can't do so, and naps are as short as polls from
 * there on. Nobody naps, and no connection stays, while nothing waits.
 */
public final class MysqlNotificationListener implements NotificationListener {

    private static final Logger LOG = LoggerFactory.getLogger(MysqlNotificationListener.class);
    private static final HexFormat HEX = HexFormat.of();

    /** Claims in one look: bounds the length of the statement. */
    private static final int MOST_TOGETHER = 256;

    /** What the server keeps old versions of rows for, at the longest. */
    private static final double LONGEST_NAP = 0.5;

    // Where nobody cuts a nap short: seconds, growing while nothing happens.
    private static final double SHORT_NAP = 0.010;
    private static final double LONGEST_SHORT_NAP = 0.040;

    private static final long STAYS_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The query was ended by somebody. */
    private static final int INTERRUPTED = 1317;

    private static final String CLAIMS = "JSON_TABLE(?, '$[*]' COLUMNS (place INT PATH '$[0]',"
            + " name VARCHAR(1024) PATH '$[1]', session BIGINT PATH '$[2]', claim BIGINT PATH '$[3]')) v";

    /**
     * A claim is found by its session and number. Its name and state are wrapped into expressions, so that no server
     * looks it up by these, which would read the whole queue of the name, as MariaDB 10.11 did.
     */
    private static final String WAITS = " holdfast_claim c ON c.session = v.session AND c.claim = v.claim"
            + " AND CONCAT(c.name) = UNHEX(v.name) AND c.granted + 0 = 0";

    /** How a nap ended. */
    private enum Nap {
        OVER,
        CUT_SHORT,

        /** Not all claims wait any more: there was none. */
        NEEDLESS
    }

    private final DataSource source;
    private final NamedThreadFactory threads;
    private final FailoverDetector failovers;
    private final StatementCache statements;
    private final String lockName;
    private final Consumer<Signal> listener;
    private final WaitingClaims waiting = new WaitingClaims();
    private final String nap;
    private final String look;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable Thread thread;

    @GuardedBy("lock")
    private boolean closed;

    /** How often this was told to look. */
    private final AtomicLong wakeupFiles = new AtomicLong();

    /** Set by any thread; the one thread makes its connection anew. */
    private volatile boolean isStale;

    // Of the one thread.
    private @Nullable Connection connection;
    private boolean hasLock;

    /** Whether naps are cut short where there is something to hear, as far as was seen. */
    private boolean isToldInTime = true;

    private double seconds = SHORT_NAP;
    private Nap last = Nap.CUT_SHORT;

    public MysqlNotificationListener(
            DataSource source,
            SqlTemplates templates,
            NamedThreadFactory threads,
            long client,
            FailoverDetector failovers,
            Consumer<Signal> listener) {
        this.source = source;
        this.threads = threads;
        this.failovers = failovers;
        this.statements = new StatementCache(templates);
        this.lockName = lockName(client);
        this.listener = listener;
        this.nap = templates.of("SELECT SLEEP(?) FROM (SELECT count(*) AS n FROM " + CLAIMS + " STRAIGHT_JOIN" + WAITS
                + ") w WHERE w.n = ?");
        this.look = templates.of("SELECT v.place, c.claim IS NOT NULL, r.session = v.session AND r.claim = v.claim,"
                + " r.first_token, r.end_token, r.ends, r.waiters FROM " + CLAIMS
                + " LEFT JOIN holdfast_resource r ON r.name = UNHEX(v.name) LEFT JOIN" + WAITS);
    }

    /** The lock that the connection has on which a client naps. Whoever lets that client in looks it up. */
    public static String lockName(long client) {
        return "holdfast:" + Long.toHexString(client);
    }

    /** There is nothing to hear until a claim waits. */
    @Override
    public void start() {
        // As above.
    }

    @Override
    public CompletionStage<Reply> follow(Command command, Supplier<CompletionStage<Reply>> sending) {
        long before = wakeupFiles.get();
        return sending.get().whenComplete((reply, failure) -> {
            if (reply != null) {
                List<ClaimRef> found = waiting.note(command, reply);
                if (!found.isEmpty()) {
                    listen();
                    if (wakeupFiles.get() != before) {
                        // It may have been let in before anybody knew here that it waits.
                        found.forEach(claim -> listener.accept(new Signal.Changed(claim)));
                    }
                }
            }
        });
    }

    private void listen() {
        lock.lock();
        try {
            if (thread == null && !closed) {
                Thread made = threads.make(this::run, "holdfast-mysql-listener");
                made.start();
                thread = made;
            }
        } catch (RuntimeException | Error e) {
            // Those that wait ask now and then all the same, and the next one that is queued tries again.
            LOG.error("no thread could be had to hear of grants", e);
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        long pause = SHORTEST_PAUSE_NANOS;
        boolean isConnected = false;
        while (true) {
            List<ClaimRef> claims = waiting.await(isConnected ? STAYS_NANOS : Long.MAX_VALUE);
            if (claims == null) {
                disconnect();
                return;
            }
            try {
                if (claims.isEmpty()) {
                    isConnected = false;
                    disconnect();
                } else {
                    if (isStale) {
                        isStale = false;
                        throw new SQLException("The server takes no writes");
                    }
                    if (!isConnected) {
                        connect();
                        isConnected = true;
                    }
                    listen(claims);
                    pause = SHORTEST_PAUSE_NANOS;
                }
            } catch (SQLException e) {
                LOG.debug("the connection on which this client hears of grants is lost", e);
                StatementCache.logSuppressed(e);
                isConnected = false;
                pause = loseAndPause(pause);
            } catch (RuntimeException | Error e) {
                LOG.error("the connection on which this client hears of grants failed; it is made anew", e);
                isConnected = false;
                pause = loseAndPause(pause);
            }
        }
    }

    /** Gives the next pause. */
    private long loseAndPause(long pause) {
        disconnect();
        // Whatever happens meanwhile nobody hears.
        listener.accept(new Signal.Resubscribed());
        waiting.pause(pause);
        return Math.min(LONGEST_PAUSE_NANOS, pause * 2);
    }

    private void connect() throws SQLException {
        connection = LentConnection.forStatements(source, UnfitIsolation.OTHER).connection();
        failovers.check(connection);
        statements.attach(connection);
        isToldInTime = true;
        takeLock();
    }

    /** Until the server has noticed that an earlier connection is gone, that one has the lock. */
    private void takeLock() throws SQLException {
        try (ResultSet row = statements.bound("SELECT GET_LOCK(?, 0)", lockName).executeQuery()) {
            hasLock = row.next() && row.getInt(1) == 1;
        }
    }

    /**
     * Ends the connection, also one of a pool: whoever was about to end a nap on it must not end a query of the
     * program, which would have the same connection.
     */
    private void disconnect() {
        ConnectionDisposal.discard(connection);
        statements.forget();
        connection = null;
    }

    private void listen(List<ClaimRef> claims) throws SQLException {
        Nap present = nap(claims.subList(0, Math.min(claims.size(), MOST_TOGETHER)));
        if (present == Nap.CUT_SHORT) {
            wakeupFiles.incrementAndGet();
            isToldInTime = true;
        } else if (present == Nap.NEEDLESS && last == Nap.OVER) {
            isToldInTime = false;
        }
        last = present;
        if (present == Nap.OVER) {
            if (!hasLock) {
                takeLock();
            }
            seconds = Math.min(LONGEST_SHORT_NAP, seconds * 1.5);
        } else {
            seconds = SHORT_NAP;
            // With those that came meanwhile.
            List<ClaimRef> all = waiting.present();
            for (int from = 0; from < all.size(); from += MOST_TOGETHER) {
                look(all.subList(from, Math.min(all.size(), from + MOST_TOGETHER)));
            }
        }
    }

    private Nap nap(List<ClaimRef> claims) throws SQLException {
        PreparedStatement select = statements.prepare(nap);
        select.setDouble(1, hasLock && isToldInTime ? LONGEST_NAP : seconds);
        select.setString(2, json(claims));
        select.setInt(3, claims.size());
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return Nap.NEEDLESS;
            }
            return row.getInt(1) == 0 ? Nap.OVER : Nap.CUT_SHORT;
        } catch (SQLException e) {
            if (e.getErrorCode() == INTERRUPTED) {
                StatementCache.logSuppressed(e);
                return Nap.CUT_SHORT;
            }
            throw e;
        }
    }

    /** Tells of those that do not wait any more. */
    private void look(List<ClaimRef> claims) throws SQLException {
        List<Signal> signals = new ArrayList<>();
        try (ResultSet row = statements.bound(look, json(claims)).executeQuery()) {
            while (row.next()) {
                ClaimRef claim = claims.get(row.getInt(1));
                boolean waits = row.getBoolean(2);
                if (!waits) {
                    waiting.remove(claim);
                    // A lease of its own begins when the claimant asks.
                    signals.add(
                            row.getBoolean(3) && row.getLong(6) == 0
                                    ? new Signal.Granted(claim, granted(row))
                                    : new Signal.Changed(claim));
                }
            }
        } catch (SQLException e) {
            if (e.getErrorCode() != INTERRUPTED) {
                throw e;
            }
            // Another one was let in meanwhile: the next nap is needless.
            StatementCache.logSuppressed(e);
        }
        signals.forEach(listener);
    }

    private static Reply.Granted granted(ResultSet row) throws SQLException {
        return new Reply.Granted(new TokenBlock(row.getLong(4), row.getLong(5)), Optional.empty(), row.getLong(7) > 0);
    }

    private static String json(List<ClaimRef> claims) {
        StringJoiner json = new StringJoiner(",", "[", "]");
        for (int i = 0; i < claims.size(); i++) {
            ClaimRef claim = claims.get(i);
            json.add("[" + i + ",\"" + HEX.formatHex(claim.resource().utf8()) + "\","
                    + Session.numberOf(claim.session()) + "," + claim.claim() + "]");
        }
        return json.toString();
    }

    /** When the nap that is under way is over. */
    @Override
    public void reconnect() {
        isStale = true;
    }

    /** The connection goes when the nap that is under way is over. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        waiting.close();
    }
}
