package dev.holdfast.store.jdbc.server;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.UnproxiedDataSource;
import dev.holdfast.store.ledger.runtime.SystemClock;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one store: one for locks, one that renews sessions, and sometimes one for locked rows. Each is
 * opened when it is needed. The store's own connections stay open; those of a pool are returned after each round trip.
 *
 * <p><b>Thread-safety:</b> each use belongs to one thread at a time.
 */
public final class ServerConnections {

    /** The purpose of a connection. */
    public enum Use {
        LOCKS,
        SESSIONS,

        /** For session commands while the first connection does not answer. */
        SESSIONS_SECOND,

        /** While the second one does not answer either. */
        SESSIONS_THIRD,

        /** For rows locked by other transactions; open while commands need some. */
        LOCKED_ROWS;

        private static final List<Use> OF_SESSIONS = List.of(SESSIONS, SESSIONS_SECOND, SESSIONS_THIRD);

        /** The use of a lane of {@link SessionLanes}. */
        public static Use ofSessions(int lane) {
            return OF_SESSIONS.get(lane);
        }

        boolean isOfSessions() {
            return OF_SESSIONS.contains(this);
        }
    }

    /**
     * A server or a firewall may have ended a connection that was idle for longer than this, so it is validated before
     * use. Keep-alives are so regular that their connection is never idle for that long without a reason.
     */
    public static final Duration IDLE = Duration.ofSeconds(20);

    /** How long the validation may take. */
    private static final int ANSWER_SECONDS = 3;

    /** How many connections of a use are replaced in a second, in case all servers are read-only. */
    private static final int MOST_REPLACED = 1;

    /** The same for a pool, which may contain several bad connections. */
    private static final int MOST_REPLACED_OF_POOL = 20;

    /** The time-out of a connection is not changed for a difference of less than one part in this many. */
    private static final int SLACK = 8;

    private final DataSource source;
    private final LongSupplier ticks;
    private final ConnectionOrigin origin;

    /** Whether the source resets the settings of a connection before it lends it again. */
    private final boolean comesAsBefore;

    /** The isolation of physical connections: reading it each time would be a round trip. Guarded by this. */
    private final Map<Connection, Integer> isolations = new WeakHashMap<>();

    /** Guarded by this. */
    private @Nullable Product product;

    /** Guarded by this. */
    private @Nullable FailoverDetector failovers;

    /** Guarded by this. */
    private final Map<Use, Place> places = new EnumMap<>(Use.class);

    /** Guarded by this. */
    private Runnable whenReplaced = () -> {};

    /** Guarded by this. */
    private boolean closed;

    /** The state of a use; guarded by the connections. Times are of the monotonic clock. */
    private static final class Place {
        private @Nullable LentConnection open;

        /** Since when a round trip has had the connection; null if none has it. */
        private @Nullable Long takenAt;

        /** When it was last used; null if never. */
        private @Nullable Long usedAt;

        /** The read time-out with which it was opened; null if that was never changed. */
        private @Nullable Integer ownTimeout;

        /** The current read time-out. This and the one above belong to the round trip that has the connection. */
        private int timeout;

        /** When the current second of replacements began; null if there was none. */
        private @Nullable Long replacedSince;

        /** How many replacements there were in that second. */
        private int replaced;

        @Nullable
        Connection connection() {
            return open == null ? null : open.connection();
        }

        @Nullable
        LentConnection remove() {
            LentConnection present = open;
            open = null;
            return present;
        }

        @Nullable
        Connection removeConnection() {
            Connection present = connection();
            open = null;
            return present;
        }

        boolean isOld(long now) {
            return usedAt != null && now - usedAt > IDLE.toNanos();
        }

        void take(long now) {
            if (takenAt == null) {
                takenAt = now;
            }
            usedAt = now;
        }

        /** Sets the read time-out to about this, but not above the initial one. */
        void bound(Connection present, int millis) throws SQLException {
            Integer own = ownTimeout;
            if (own == null) {
                own = present.getNetworkTimeout();
                ownTimeout = own;
                timeout = own;
            }
            int wanted = own == 0 ? millis : Math.min(own, millis);
            if (Math.abs((long) timeout - wanted) > wanted / SLACK) {
                setTimeout(present, wanted);
            }
        }

        void unbound(Connection present) throws SQLException {
            Integer own = ownTimeout;
            if (own != null && timeout != own) {
                setTimeout(present, own);
            }
        }

        private void setTimeout(Connection present, int millis) throws SQLException {
            present.setNetworkTimeout(Runnable::run, millis);
            timeout = millis;
        }
    }

    public ServerConnections(DataSource source, ConnectionOrigin origin) {
        this(source, origin, SystemClock::nanoTime);
    }

    public ServerConnections(DataSource source, ConnectionOrigin origin, LongSupplier ticks) {
        this.source = source;
        this.ticks = ticks;
        this.origin = origin;
        this.comesAsBefore = origin == ConnectionOrigin.POOL && UnproxiedDataSource.setsConnectionsBack(source);
    }

    /** Whether connections are lent, and so must be returned with unchanged settings. */
    public boolean areLent() {
        return origin.isLent();
    }

    private Place place(Use use) {
        return places.computeIfAbsent(use, first -> new Place());
    }

    /** Sets the product, once it is known. */
    public void know(Product known, FailoverDetector detector) throws SQLException {
        Connection first;
        synchronized (this) {
            product = known;
            failovers = detector;
            first = place(Use.LOCKS).connection();
        }
        if (first != null) {
            prepare(first, Use.LOCKS, known, detector);
        }
    }

    private void prepare(Connection made, Use use, Product known, FailoverDetector detector) throws SQLException {
        if (origin.isLent()) {
            detector.checkLent(made, use.isOfSessions());
        } else {
            // Only the next renewal waits behind a renewal.
            known.boundWaits(made, use.isOfSessions() ? LockWait.PATIENT : LockWait.BRIEF);
            detector.check(made);
        }
    }

    /**
     * The connection for a use, opened if there is none. It is in autocommit mode, and each statement sees what was
     * committed before.
     */
    public Connection get(Use use) throws SQLException {
        Place place;
        Connection present;
        Product known;
        FailoverDetector detector;
        boolean isOld;
        synchronized (this) {
            place = place(use);
            long now = ticks.getAsLong();
            present = place.connection();
            known = product;
            detector = failovers;
            isOld = place.isOld(now);
            place.take(now);
        }
        if (present != null && (!isOld || present.isValid(ANSWER_SECONDS))) {
            place.unbound(present);
            if (origin == ConnectionOrigin.POOLER && use.isOfSessions() && detector != null) {
                // A pooler may change the server behind an open connection.
                detector.check(present);
            }
            return present;
        }
        drop(use);
        LentConnection made = LentConnection.forStatements(source, this::unfitIsolation);
        try {
            if (known != null && detector != null) {
                prepare(made.connection(), use, known, detector);
            }
        } catch (SQLException | RuntimeException | Error e) {
            ConnectionDisposal.discard(made.connection());
            throw e;
        }
        synchronized (this) {
            if (!closed) {
                place.open = made;
                place.ownTimeout = null;
                return made.connection();
            }
        }
        returnToPool(made);
        throw new SQLException("The store was closed", "08003");
    }

    /**
     * The connection for a use, for a thread that waits for an answer for at most this time, plus an eighth.
     *
     * @return null if there is none, or if it must be validated first
     */
    @Nullable
    Connection getWithin(Use use, long nanos) throws SQLException {
        int millis = (int) Math.min(Integer.MAX_VALUE / 2, TimeUnit.NANOSECONDS.toMillis(nanos));
        Place place;
        Connection present;
        synchronized (this) {
            place = place(use);
            long now = ticks.getAsLong();
            present = place.connection();
            if (present == null || place.isOld(now) || millis <= 0) {
                return null;
            }
            place.take(now);
        }
        place.bound(present, millis);
        return present;
    }

    private OptionalInt unfitIsolation(Connection made) throws SQLException {
        int isolation = isolationOf(made);
        Product known;
        synchronized (this) {
            known = product;
        }
        boolean isFit = isolation == Connection.TRANSACTION_READ_COMMITTED
                || (origin.isLent() && known != null && known.fitsStatements(isolation));
        return isFit ? OptionalInt.empty() : OptionalInt.of(isolation);
    }

    private int isolationOf(Connection made) throws SQLException {
        if (!comesAsBefore) {
            return made.getTransactionIsolation();
        }
        Connection behind = made.unwrap(Connection.class);
        synchronized (this) {
            Integer known = isolations.get(behind);
            if (known != null) {
                return known;
            }
        }
        int asked = made.getTransactionIsolation();
        synchronized (this) {
            isolations.put(behind, asked);
        }
        return asked;
    }

    /** Called after each round trip. */
    public void rest(Use use, StatementCache statements) {
        synchronized (this) {
            place(use).takenAt = null;
        }
        if (origin == ConnectionOrigin.POOL) {
            statements.forget();
            drop(use);
        }
    }

    /** Returns a connection to its pool, or closes it. */
    public void drop(Use use) {
        LentConnection present;
        synchronized (this) {
            present = place(use).remove();
        }
        returnToPool(present);
    }

    /**
     * Ends a connection that does not answer while the server does on another, which fails its round trip. The network
     * may have dropped others at the same time, so this also ends the idle ones, and those in use since before a given
     * time.
     *
     * @param takenBefore in nanoseconds of the monotonic time
     */
    public void endSilent(Use silent, long takenBefore) {
        Connection present;
        List<@Nullable Connection> resting = new ArrayList<>();
        Runnable action;
        synchronized (this) {
            present = place(silent).connection();
            for (Place place : places.values()) {
                if (place.takenAt == null) {
                    resting.add(place.removeConnection());
                }
            }
            action = whenReplaced;
        }
        ConnectionDisposal.abort(present);
        endTakenBefore(takenBefore);
        resting.forEach(ConnectionDisposal::discard);
        action.run();
    }

    /** Ends the connections that round trips took before this time and still use. */
    public void endTakenBefore(long nanos) {
        List<@Nullable Connection> old = new ArrayList<>();
        synchronized (this) {
            for (Place place : places.values()) {
                if (place.takenAt != null && place.takenAt - nanos < 0) {
                    old.add(place.connection());
                }
            }
        }
        // The round trips return them when they notice.
        old.forEach(ConnectionDisposal::abort);
    }

    /** Returns a connection to its pool, or closes it, unless a round trip uses it. */
    public void dropUnlessTaken(Use use) {
        LentConnection present;
        synchronized (this) {
            Place place = place(use);
            present = place.takenAt == null ? place.remove() : null;
        }
        returnToPool(present);
    }

    /** Ends the physical connection of a use, even a pooled one. */
    public void discard(Use use) {
        Connection present;
        synchronized (this) {
            present = place(use).removeConnection();
        }
        ConnectionDisposal.discard(present);
    }

    /**
     * Sets an action to run, on the thread of a round trip, after connections to a read-only server were ended: at most
     * once a second for each use.
     */
    public synchronized void whenReplaced(Runnable action) {
        whenReplaced = action;
    }

    /**
     * Ends a connection to a read-only server, because another one may lead to the new primary. Limited in rate, in
     * case all servers are read-only.
     *
     * @return whether a retry is worthwhile
     */
    public boolean replace(Use use) {
        Connection present;
        Runnable action;
        synchronized (this) {
            Place place = place(use);
            long now = ticks.getAsLong();
            if (place.replacedSince == null || now - place.replacedSince >= TimeUnit.SECONDS.toNanos(1)) {
                place.replacedSince = now;
                place.replaced = 0;
            }
            if (place.replaced >= (origin == ConnectionOrigin.POOL ? MOST_REPLACED_OF_POOL : MOST_REPLACED)) {
                return false;
            }
            place.replaced++;
            present = place.removeConnection();
            action = place.replaced == 1 ? whenReplaced : () -> {};
        }
        ConnectionDisposal.discard(present);
        action.run();
        return true;
    }

    public void close() {
        synchronized (this) {
            closed = true;
        }
        for (Use use : Use.values()) {
            drop(use);
        }
    }

    /** Returns a connection to its pool, or closes one of the store's own. */
    private void returnToPool(@Nullable LentConnection connection) {
        if (connection != null) {
            if (origin == ConnectionOrigin.POOL) {
                connection.returnToPool();
            } else {
                ConnectionDisposal.close(connection.connection());
            }
        }
    }
}
