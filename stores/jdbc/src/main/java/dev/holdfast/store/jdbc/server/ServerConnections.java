package dev.holdfast.store.jdbc.server;

import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.UnproxiedDataSource;
import dev.holdfast.store.ledger.runtime.SystemTime;
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
 * The connections of one store: one for locks, one that renews sessions, now and then one for names whose rows others
 * have locked, each made when it is needed. Those of our own stay open; those of somebody's pool go back after each
 * trip.
 *
 * <p><b>Thread-safety:</b> each use belongs to one thread at a time.
 */
public final class ServerConnections {

    /** What a connection is for. */
    public enum Use {
        LOCKS,
        SESSIONS,

        /** For what is about sessions while the connection for that does not answer. */
        SESSIONS_SECOND,

        /** While that one does not answer either. */
        SESSIONS_THIRD,

        /** For names whose rows others have locked; there while some of them are wanted. */
        LOCKED_ROWS;

        private static final List<Use> OF_SESSIONS = List.of(SESSIONS, SESSIONS_SECOND, SESSIONS_THIRD);

        /** That of a lane of {@link SessionLanes}. */
        public static Use ofSessions(int lane) {
            return OF_SESSIONS.get(lane);
        }

        boolean isOfSessions() {
            return OF_SESSIONS.contains(this);
        }
    }

    /**
     * A server, or a firewall on the way, may have ended a connection that nobody used for longer than that: it is
     * asked before it is used. Renewals are so regular that theirs is never that old without a reason.
     */
    public static final Duration IDLE = Duration.ofSeconds(20);

    /** How long it may take to answer that. */
    private static final int ANSWER_SECONDS = 3;

    /** So many connections of a use are replaced within a second at the most, in case all servers are read-only. */
    private static final int MOST_REPLACED = 1;

    /** As above, of a pool, which may have several that are no better. */
    private static final int MOST_REPLACED_OF_POOL = 20;

    /** The time-out of a connection is not changed for a difference of one part in so many. */
    private static final int SLACK = 8;

    private final DataSource source;
    private final LongSupplier ticks;
    private final boolean isPool;
    private final boolean isLent;

    /** Whether a connection comes from the source each time as it did the first time. */
    private final boolean comesAsBefore;

    /** What physical connections come with: to ask each time would be a trip. Guarded by this. */
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

    /** What is known of a use; guarded by the connections. Times are of the monotonic clock. */
    private static final class Place {
        private @Nullable LentConnection open;

        /** Since when a trip has it; null if none has. */
        private @Nullable Long takenAt;

        /** When it was last used; null if it was not. */
        private @Nullable Long usedAt;

        /** How long a read on it waits for the server, as it was made; null if that was never changed. */
        private @Nullable Integer ownTimeout;

        /** How long it does now. Of the trip that has it, as the one above. */
        private int timeout;

        /** When the present second of replacements began; null if there was none. */
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

        /** Sets the read time-out to about that, but to no more than the connection was made with. */
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

    /**
     * Knows where connections come from.
     *
     * @param isPool whether they go back as soon as possible
     * @param isLent whether what is set on them would be found there by somebody else
     */
    public ServerConnections(DataSource source, boolean isPool, boolean isLent) {
        this(source, isPool, isLent, SystemTime::nanoTime);
    }

    public ServerConnections(DataSource source, boolean isPool, boolean isLent, LongSupplier ticks) {
        this.source = source;
        this.ticks = ticks;
        this.isPool = isPool;
        this.isLent = isLent;
        this.comesAsBefore = isPool && UnproxiedDataSource.setsConnectionsBack(source);
    }

    /** Whether connections are somebody else's, and go back as they came. */
    public boolean areLent() {
        return isLent;
    }

    private Place place(Use use) {
        return places.computeIfAbsent(use, first -> new Place());
    }

    /** To be called when it is known what the connections are to. */
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
        if (isLent) {
            detector.checkLent(made, use.isOfSessions());
        } else {
            // Nobody waits behind a renewal but the next one.
            known.boundWaits(made, use.isOfSessions() ? LockWait.PATIENT : LockWait.BRIEF);
            detector.check(made);
        }
    }

    /**
     * The connection for a use, made if there is none. It commits each statement by itself, and each statement sees
     * what was committed before.
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
            if (isLent && !isPool && use.isOfSessions() && detector != null) {
                // A pooler may have another server behind a connection that stays.
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
        giveBack(made);
        throw new SQLException("The store was closed", "08003");
    }

    /**
     * The connection for a use, for a thread that waits for no answer of the server for longer than a time, but for an
     * eighth of that.
     *
     * @return null if there is none, or none that can be used before the server was asked
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
                || (isLent && known != null && known.fitsStatements(isolation));
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

    /** Called after each trip. */
    public void rest(Use use, StatementCache statements) {
        synchronized (this) {
            place(use).takenAt = null;
        }
        if (isPool) {
            statements.forget();
            drop(use);
        }
    }

    /** Gives a connection back, or ends it. */
    public void drop(Use use) {
        LentConnection present;
        synchronized (this) {
            present = place(use).remove();
        }
        giveBack(present);
    }

    /**
     * A connection does not answer, while the server does on another: it is ended, and so fails the trip that has it.
     * The network may have forgotten others at the same moment: those that no trip has are ended too, and those that a
     * trip took before that time.
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

    /** Ends what a trip took before that time, and still has. */
    public void endTakenBefore(long nanos) {
        List<@Nullable Connection> old = new ArrayList<>();
        synchronized (this) {
            for (Place place : places.values()) {
                if (place.takenAt != null && place.takenAt - nanos < 0) {
                    old.add(place.connection());
                }
            }
        }
        // The trips give them back when they notice.
        old.forEach(ConnectionDisposal::abort);
    }

    /** Gives a connection back, or ends it, unless a trip has it. */
    public void dropUnlessTaken(Use use) {
        LentConnection present;
        synchronized (this) {
            Place place = place(use);
            present = place.takenAt == null ? place.remove() : null;
        }
        giveBack(present);
    }

    /** Ends a connection itself, also where it is one of a pool, if there is one. */
    public void discard(Use use) {
        Connection present;
        synchronized (this) {
            present = place(use).removeConnection();
        }
        ConnectionDisposal.discard(present);
    }

    /**
     * From here on this is called, on the thread of a trip, after connections to a server that takes no writes were
     * ended: once a second and use at the most.
     */
    public synchronized void whenReplaced(Runnable action) {
        whenReplaced = action;
    }

    /**
     * Ends a connection to a server that takes no writes, since another one may lead to the new primary. No more often
     * than makes sense where all servers are like that.
     *
     * @return whether it is worth another try
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
            if (place.replaced >= (isPool ? MOST_REPLACED_OF_POOL : MOST_REPLACED)) {
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

    /** One of our own is closed; nobody has it after that. */
    private void giveBack(@Nullable LentConnection connection) {
        if (connection != null) {
            if (isPool) {
                connection.giveBack();
            } else {
                ConnectionDisposal.close(connection.connection());
            }
        }
    }
}
