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
import dev.holdfast.store.ledger.table.SessionRow;
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
 * Learns of grants to this client on MySQL and MariaDB. These have no NOTIFY, but a query that sleeps can be killed.
 * While claims wait, one connection holds a named lock of the server that identifies the client, and runs {@code SELECT
 * SLEEP}. The client that grants a claim kills the query of the connection with that lock. It cannot hit another
 * connection, because the lock ends with its connection.
 *
 * <p>A query sleeps only if all claims still wait, so nothing that happens between two sleeps is missed. If a grant is
 * found after a sleep that was not interrupted, others cannot kill the query, and from then on sleeps are as short as
 * polls. While no claim waits, there is no sleeping query, and the connection is closed.
 */
public final class MysqlNotificationListener implements NotificationListener {

    private static final Logger LOG = LoggerFactory.getLogger(MysqlNotificationListener.class);
    private static final HexFormat HEX = HexFormat.of();

    /** Of the named lock, before the number of the client in hexadecimal. */
    static final String LOCK_PREFIX = "holdfast:";

    /** The most claims in one statement, which limits its length. */
    private static final int MOST_TOGETHER = 256;

    /** The longest sleep, for which the server keeps old row versions. */
    private static final double LONGEST_SLEEP = 0.5;

    // The sleep in seconds where others cannot interrupt it; it grows while nothing happens.
    private static final double SHORT_SLEEP = 0.010;
    private static final double LONGEST_SHORT_SLEEP = 0.040;

    private static final long STAYS_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The error code of a killed query. */
    private static final int QUERY_KILLED = 1317;

    private static final String CLAIMS = "JSON_TABLE(?, '$[*]' COLUMNS (place INT PATH '$[0]',"
            + " name VARCHAR(1024) PATH '$[1]', session BIGINT PATH '$[2]', claim BIGINT PATH '$[3]')) v";

    /**
     * A claim is found by its session and number. Its name and state are wrapped in expressions, so that no server uses
     * an index on them, which would read the whole queue of the name, as MariaDB 10.11 did.
     */
    private static final String WAITS = " holdfast_claim c ON c.session = v.session AND c.claim = v.claim"
            + " AND CONCAT(c.name) = UNHEX(v.name) AND c.granted + 0 = 0";

    /** How a sleep ended. */
    private enum Sleep {
        COMPLETED,
        INTERRUPTED,

        /** There was no sleep, because some claim no longer waits. */
        SKIPPED
    }

    private final DataSource source;
    private final NamedThreadFactory threads;
    private final FailoverDetector failovers;
    private final StatementCache statements;
    private final String lockName;
    private final Consumer<Signal> listener;
    private final WaitingClaims waiting = new WaitingClaims();
    private final String sleepQuery;
    private final String readClaims;
    private final ReentrantLock lock = new ReentrantLock();

    @GuardedBy("lock")
    private @Nullable Thread thread;

    @GuardedBy("lock")
    private boolean closed;

    /** How often a sleep was interrupted. */
    private final AtomicLong interruptedSleeps = new AtomicLong();

    /** Set by any thread; the listener's thread then replaces its connection. */
    private volatile boolean isStale;

    // Used only by the listener's thread.
    private @Nullable Connection connection;
    private boolean hasLock;

    /** Whether, as far as observed, grants interrupt the sleep. */
    private boolean isInterrupted = true;

    private double seconds = SHORT_SLEEP;
    private Sleep last = Sleep.INTERRUPTED;

    public MysqlNotificationListener(Settings settings) {
        SqlTemplates templates = settings.templates();
        this.source = settings.source();
        this.threads = settings.threads();
        this.failovers = settings.failovers();
        this.statements = new StatementCache(templates);
        this.lockName = lockName(settings.client());
        this.listener = settings.receiver();
        this.sleepQuery = templates.of("SELECT SLEEP(?) FROM (SELECT count(*) AS n FROM " + CLAIMS + " STRAIGHT_JOIN"
                + WAITS + ") w WHERE w.n = ?");
        this.readClaims =
                templates.of("SELECT v.place, c.claim IS NOT NULL, r.session = v.session AND r.claim = v.claim,"
                        + " r.first_token, r.end_token, r.ends, r.waiters FROM " + CLAIMS
                        + " LEFT JOIN holdfast_resource r ON r.name = UNHEX(v.name) LEFT JOIN" + WAITS);
    }

    /** The named lock of the connection on which a client sleeps. Other clients use it to find that connection. */
    public static String lockName(long client) {
        return LOCK_PREFIX + Long.toHexString(client);
    }

    /** Nothing to do until a claim waits. */
    @Override
    public void start() {
        // The first waiting claim starts the thread.
    }

    @Override
    public CompletionStage<Reply> follow(Command command, Supplier<CompletionStage<Reply>> sending) {
        long before = interruptedSleeps.get();
        return sending.get().whenComplete((reply, failure) -> {
            if (reply != null) {
                List<ClaimRef> found = waiting.note(command, reply);
                if (!found.isEmpty()) {
                    listen();
                    if (interruptedSleeps.get() != before) {
                        // It may have been granted before this listener knew that it waits.
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
            // Waiters poll anyway, and the next queued claim retries.
            LOG.error("no thread could be started to listen for grants", e);
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
                        throw new SQLException("The server is read-only");
                    }
                    if (!isConnected) {
                        connect();
                        isConnected = true;
                    }
                    listen(claims);
                    pause = SHORTEST_PAUSE_NANOS;
                }
            } catch (SQLException e) {
                LOG.debug("the connection that listens for grants was lost", e);
                StatementCache.logSuppressed(e);
                isConnected = false;
                pause = loseAndPause(pause);
            } catch (RuntimeException | Error e) {
                LOG.error("the connection that listens for grants failed; a new one is opened", e);
                isConnected = false;
                pause = loseAndPause(pause);
            }
        }
    }

    /** Returns the next pause. */
    private long loseAndPause(long pause) {
        disconnect();
        // Notifications are missed meanwhile.
        listener.accept(new Signal.Resubscribed());
        waiting.pause(pause);
        return Math.min(LONGEST_PAUSE_NANOS, pause * 2);
    }

    private void connect() throws SQLException {
        connection = LentConnection.forStatements(source, UnfitIsolation.OTHER).connection();
        failovers.check(connection);
        statements.attach(connection);
        isInterrupted = true;
        takeLock();
    }

    /** Tries to take the named lock, which an earlier connection keeps until the server notices that it was lost. */
    private void takeLock() throws SQLException {
        try (ResultSet row = statements.bound("SELECT GET_LOCK(?, 0)", lockName).executeQuery()) {
            hasLock = row.next() && row.getInt(1) == 1;
        }
    }

    /**
     * Ends the physical connection, even a pooled one: another client that is about to kill the sleep must not kill a
     * query of the program on the same connection.
     */
    private void disconnect() {
        ConnectionDisposal.discard(connection);
        statements.forget();
        connection = null;
    }

    private void listen(List<ClaimRef> claims) throws SQLException {
        Sleep present = sleep(claims.subList(0, Math.min(claims.size(), MOST_TOGETHER)));
        if (present == Sleep.INTERRUPTED) {
            interruptedSleeps.incrementAndGet();
            isInterrupted = true;
        } else if (present == Sleep.SKIPPED && last == Sleep.COMPLETED) {
            isInterrupted = false;
        }
        last = present;
        if (present == Sleep.COMPLETED) {
            if (!hasLock) {
                takeLock();
            }
            seconds = Math.min(LONGEST_SHORT_SLEEP, seconds * 1.5);
        } else {
            seconds = SHORT_SLEEP;
            // Include the claims that were added meanwhile.
            List<ClaimRef> all = waiting.present();
            for (int from = 0; from < all.size(); from += MOST_TOGETHER) {
                reportGranted(all.subList(from, Math.min(all.size(), from + MOST_TOGETHER)));
            }
        }
    }

    private Sleep sleep(List<ClaimRef> claims) throws SQLException {
        PreparedStatement select = statements.prepare(sleepQuery);
        select.setDouble(1, hasLock && isInterrupted ? LONGEST_SLEEP : seconds);
        select.setString(2, json(claims));
        select.setInt(3, claims.size());
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return Sleep.SKIPPED;
            }
            return row.getInt(1) == 0 ? Sleep.COMPLETED : Sleep.INTERRUPTED;
        } catch (SQLException e) {
            if (e.getErrorCode() == QUERY_KILLED) {
                StatementCache.logSuppressed(e);
                return Sleep.INTERRUPTED;
            }
            throw e;
        }
    }

    /** Reports the claims that no longer wait. */
    private void reportGranted(List<ClaimRef> claims) throws SQLException {
        List<Signal> signals = new ArrayList<>();
        try (ResultSet row = statements.bound(readClaims, json(claims)).executeQuery()) {
            while (row.next()) {
                ClaimRef claim = claims.get(row.getInt(1));
                boolean waits = row.getBoolean(2);
                if (!waits) {
                    waiting.remove(claim);
                    // A grant's own lease begins when the claimant polls.
                    signals.add(
                            row.getBoolean(3) && row.getLong(6) == 0
                                    ? new Signal.Granted(claim, granted(row))
                                    : new Signal.Changed(claim));
                }
            }
        } catch (SQLException e) {
            if (e.getErrorCode() != QUERY_KILLED) {
                throw e;
            }
            // Another claim was granted meanwhile, so there will be no next sleep.
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
                    + SessionRow.numberOf(claim.session()) + "," + claim.claim() + "]");
        }
        return json.toString();
    }

    /** Takes effect after the current sleep. */
    @Override
    public void reconnect() {
        isStale = true;
    }

    /** The connection is closed after the current sleep. */
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
