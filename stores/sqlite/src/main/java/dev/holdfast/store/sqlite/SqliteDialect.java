package dev.holdfast.store.sqlite;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.WaitCondition;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** SQLite: one file with one writer at a time, on the host of all processes that use it. */
final class SqliteDialect implements Dialect {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteDialect.class);

    /**
     * How often the file and its log are checked. The shared memory, without which two processes could write at once,
     * is checked with each batch.
     */
    private static final long CHECK_NANOS = 100_000_000;

    private static final long MIN_TTL_MICROS = 200_000;

    private static final int RANDOM_BITS = 31;

    /**
     * Tokens of ten seconds: one commit in that time is flushed for the tokens' sake, and after a boot tokens may begin
     * that far ahead of the clock.
     */
    private static final long HORIZON_TOKENS = Tokens.floor(10_000_000);

    /** How long a flush waits for others; a caller may wait for it, and retries if it fails. */
    private static final Duration FLUSH_TIMEOUT = Duration.ofMillis(500);

    private final SqliteDatabase database;
    private final StoreClock clock;
    private final StatementCache statements;
    private final SqliteClients clients;
    private final SqliteFastPath fastPath;
    private final PollCache pollCache;
    private final LogSizeMonitor logSize;
    private final RandomGenerator random;
    private final long client;
    private final long tokenFloor;
    /** Whether a transaction is active. */
    private boolean isActive;

    /** Whether the last transaction may write. */
    private boolean isWriting;

    /** Whether a failed transaction may still be open. */
    private boolean isLeft;

    private long checkedAtNanos;

    /** Tokens above this are granted only after a higher horizon is on the disk. */
    private long horizon;

    /** The horizon once the active transaction is on the disk. */
    private long nextHorizon;

    /** Whether the active transaction must be on the disk before its commands are answered. */
    private boolean mustLast;

    /** @param isTold whether other processes notify us */
    SqliteDialect(
            SqliteDatabase database,
            SqliteClients clients,
            RandomGenerator random,
            long client,
            BooleanSupplier isTold) {
        this.database = database;
        this.clock = database.clock();
        this.statements = database.statements();
        this.clients = clients;
        this.random = random;
        this.client = client;
        this.fastPath = new SqliteFastPath(statements);
        this.pollCache = new PollCache(statements, clients, client, isTold);
        this.logSize = new LogSizeMonitor(database.file(), new ProcFs(ProcFs.ROOT));
        this.tokenFloor = database.meta().bootFloor();
        this.horizon =
                database.flushesAlways() ? Long.MAX_VALUE : database.meta().horizon();
        this.checkedAtNanos = SystemClock.nanoTime();
    }

    @Override
    public long client() {
        return client;
    }

    @Override
    public StoreClock clock() {
        return clock;
    }

    @Override
    public StatementCache statements() {
        return statements;
    }

    @Override
    public Duration busyTimeout() {
        return database.options().busyTimeout();
    }

    @Override
    public void check() throws DatabaseReplacedException {
        database.file().checkSharedMemory();
        long now = SystemClock.nanoTime();
        if (now - checkedAtNanos > CHECK_NANOS) {
            database.file().check();
            checkBoot();
            database.reserve().extendLog();
            logSize.sample().ifPresent(LOG::warn);
            checkedAtNanos = now;
        }
    }

    /** Detects that two hosts use one file at the same time, because they alternately record their boots. */
    private void checkBoot() throws DatabaseReplacedException {
        try (ResultSet row =
                statements.prepare("SELECT boot FROM holdfast_meta").executeQuery()) {
            if (!row.next() || !row.getString(1).equals(database.host().boot())) {
                throw new DatabaseReplacedException(new StoreException(
                        Reason.DENIED,
                        Effect.NONE,
                        "another machine uses the file " + database.file().path()
                                + " too, and SQLite can't lock between machines; use a store on a server",
                        null));
            }
        } catch (SQLException e) {
            if (!isBusy(e)) {
                throw translated(e, Effect.NONE);
            }
        }
    }

    @Override
    public @Nullable Reply quick(Command command) throws SQLException {
        undoLeft();
        return fastPath.tryIt(command, clock, tokenFloor, horizon);
    }

    @Override
    public Map<ClaimRef, Reply.Queued> quiet(List<ClaimRef> claims) throws SQLException {
        undoLeft();
        return pollCache.among(claims, clock.nowMicros());
    }

    @Override
    public void begin(boolean writing) throws SQLException {
        undoLeft();
        isActive = true;
        try {
            statements.prepare(writing ? "BEGIN IMMEDIATE" : "BEGIN").executeUpdate();
        } catch (SQLException e) {
            isActive = false;
            throw e;
        }
        isWriting = writing;
        mustLast = false;
        nextHorizon = horizon;
    }

    @Override
    public void commit() throws SQLException {
        statements.prepare("COMMIT").executeUpdate();
        isActive = false;
        if (mustLast && !database.flushesAlways()) {
            flush();
            horizon = nextHorizon;
        }
    }

    /** Flushes everything committed so far to the disk: flushing a commit flushes all earlier ones. */
    private void flush() throws SQLException {
        BusyTimeout busyTimeout = new BusyTimeout(FLUSH_TIMEOUT);
        try (Statement statement = database.connection().createStatement()) {
            statement.executeUpdate("PRAGMA synchronous = FULL");
            while (true) {
                try {
                    statement.executeUpdate("UPDATE holdfast_meta SET flushes = flushes + 1");
                    break;
                } catch (SQLException e) {
                    StoreException failure = translated(e, Effect.UNKNOWN);
                    if (isBusy(e)) {
                        busyTimeout.pause(new SqliteLane.Busy(failure, false));
                    } else if (!isFull(e) || !busyTimeout.mayMakeRoom() || !makeRoom()) {
                        throw failure;
                    }
                }
            }
            statement.executeUpdate("PRAGMA synchronous = NORMAL");
        }
    }

    @Override
    public void rollback() {
        if (isActive) {
            isActive = false;
            try {
                statements.prepare("ROLLBACK").executeUpdate();
            } catch (SQLException e) {
                // After some failures SQLite has already rolled back. The next BEGIN reports any other problem.
                statements.forget();
            } catch (RuntimeException | Error e) {
                LOG.error("a transaction could not be rolled back; the rollback is retried before the next command", e);
                statements.forget();
                isLeft = true;
            }
        }
    }

    /** Rolls back a transaction whose rollback failed before, so that nothing becomes part of it. */
    private void undoLeft() {
        if (isLeft) {
            isLeft = false;
            isActive = true;
            rollback();
        }
        if (isLeft) {
            throw new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, "a failed transaction could not be rolled back yet", null);
        }
    }

    @Override
    public boolean isBusy(SQLException failure) {
        return SqliteErrorCodes.isBusy(failure);
    }

    @Override
    public boolean isFull(SQLException failure) {
        return SqliteErrorCodes.isFull(failure);
    }

    @Override
    public boolean makeRoom() {
        return database.reserve().makeRoom();
    }

    @Override
    public Effect effectOf(SQLException failure) {
        return SqliteErrorCodes.effectOf(failure);
    }

    @Override
    public StoreException translated(SQLException failure, Effect effect) {
        return database.translated(failure, effect);
    }

    @Override
    public boolean isGone(long other) throws SQLException {
        return clients.isGone(other);
    }

    /**
     * The number of a session is never reused: it consists of the second in which it was opened and random bits, and no
     * existing session has it.
     */
    @Override
    public SessionRow newcomer(OpenSession command, long now) throws SQLException {
        clients.addOwn();
        long ttl = Math.max(MIN_TTL_MICROS, Micros.of(command.ttl()));
        return new SessionRow(freeNumber(), client, ttl, command.label(), 0, now + ttl);
    }

    private long freeNumber() throws SQLException {
        long seconds = clock.unixMicros() / 1_000_000;
        PreparedStatement select = statements.prepare("SELECT 1 FROM holdfast_session WHERE id = ?");
        while (true) {
            long number = (seconds & 0xffff_ffffL) << RANDOM_BITS | random.nextLong() >>> (Long.SIZE - RANDOM_BITS);
            select.setLong(1, number);
            try (ResultSet row = select.executeQuery()) {
                if (!row.next()) {
                    return number;
                }
            }
        }
    }

    @Override
    public void forgotten(SessionRow session) throws SQLException {
        clients.dropIfUnused(session.client);
    }

    @Override
    public long tokenFloor() {
        return tokenFloor;
    }

    /**
     * A power failure may undo commits that were not flushed, and with them the counters. It cannot undo the horizon,
     * and after the next boot no counter begins below it.
     */
    @Override
    public void reserved(long lastToken) throws SQLException {
        if (lastToken > nextHorizon) {
            nextHorizon = lastToken + HORIZON_TOKENS;
            mustLast = true;
            PreparedStatement update = statements.prepare("UPDATE holdfast_meta SET horizon = max(horizon, ?)");
            update.setLong(1, nextHorizon);
            update.executeUpdate();
        }
    }

    /** Also records the time by both clocks, from which the rest of a lease is computed after a reboot. */
    @Override
    public void mustLast() throws SQLException {
        mustLast = true;
        PreparedStatement update = statements.prepare("UPDATE holdfast_meta SET seen = ?, seen_unix = ?");
        update.setLong(1, clock.nowMicros());
        update.setLong(2, clock.unixMicros());
        update.executeUpdate();
    }

    @Override
    public boolean isAlone() {
        return true;
    }

    /** There are no round trips: the database is in this process. */
    @Override
    public boolean joins() {
        return false;
    }

    @Override
    public boolean expire(SessionRow session) {
        throw new IllegalStateException("A single-process database has no partially ended sessions");
    }

    @Override
    public long recheck(ClaimRef claim, WaitCondition wait) {
        if (!isWriting) {
            // This is a poll. A new claim may never be polled, and its cache entry would stay.
            pollCache.remember(claim, wait);
        }
        return pollCache.recheck(wait);
    }

    @Override
    public void close() {
        try {
            database.connection().close();
        } catch (SQLException e) {
            throw translated(e, Effect.NONE);
        }
        database.file().leave();
    }
}
