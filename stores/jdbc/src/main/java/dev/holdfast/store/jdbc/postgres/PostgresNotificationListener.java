package dev.holdfast.store.jdbc.postgres;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.sql.database.LentConnection;
import dev.holdfast.sql.database.LentConnection.UnfitIsolation;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import dev.holdfast.store.jdbc.server.FailoverDetector;
import dev.holdfast.store.jdbc.server.NotificationListener;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalCodec;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Listens on a separate connection, which is replaced when it is lost. */
final class PostgresNotificationListener implements NotificationListener {

    private static final Logger LOG = LoggerFactory.getLogger(PostgresNotificationListener.class);

    /** How long one read blocks: the driver cannot be woken, so closing may take as long. */
    private static final int READ_MILLIS = 10_000;

    /**
     * After this many consecutive connections that failed with our sockets but not with the driver's own, our sockets
     * are no longer tried.
     */
    private static final int MOST_PROMPT_FAILURES = 3;

    /** The SQLState of a write on a read-only server. */
    static final String READ_ONLY = "25006";

    private static final long SHORTEST_PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 2_000;

    private final DataSource source;

    /** The source of connections that notify at once; null if there is none. */
    private final @Nullable DataSource prompt;

    /** How many times in a row such a connection failed when another one succeeded. Used by one thread at a time. */
    private int promptFailures;

    private final String channel;
    private final FailoverDetector failovers;
    private final Consumer<Signal> listener;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final CountDownLatch closing = new CountDownLatch(1);

    @GuardedBy("lock")
    private @Nullable Connection connection;

    @GuardedBy("lock")
    private boolean closed;

    PostgresNotificationListener(Settings settings, String channel) {
        this(
                settings.source(),
                settings.source() instanceof DriverDataSource own
                        ? own.with("socketFactory", PromptSocketFactory.class.getName())
                        : null,
                channel,
                settings.threads(),
                settings.failovers(),
                settings.receiver());
    }

    /** @param prompt the same source with connections that notify at once; null if there is none */
    PostgresNotificationListener(
            DataSource source,
            @Nullable DataSource prompt,
            String channel,
            NamedThreadFactory threads,
            FailoverDetector failovers,
            Consumer<Signal> listener) {
        this.source = source;
        this.prompt = prompt;
        this.channel = channel;
        this.failovers = failovers;
        this.listener = listener;
        this.thread = threads.make(this::run, "holdfast-postgresql-listener");
    }

    /** Starts listening; the first connection is open before this returns. */
    @Override
    public void start() throws SQLException {
        Connection first = connect();
        if (take(first)) {
            try {
                thread.start();
            } catch (RuntimeException | Error e) {
                ConnectionDisposal.discard(first);
                throw e;
            }
        }
    }

    private Connection connect() throws SQLException {
        Connection made = open();
        try {
            try (Statement statement = made.createStatement()) {
                statement.execute("LISTEN \"" + channel + "\"");
            }
            return made;
        } catch (SQLException | RuntimeException | Error e) {
            ConnectionDisposal.discard(made);
            throw e;
        }
    }

    /**
     * Opens a connection. Falls back to the driver's own sockets if the driver does not see our classes, or if the
     * server was just starting.
     */
    private Connection open() throws SQLException {
        DataSource first = prompt;
        if (first == null || promptFailures == MOST_PROMPT_FAILURES) {
            return LentConnection.forStatements(source, UnfitIsolation.OTHER).connection();
        }
        try {
            Connection made =
                    LentConnection.forStatements(first, UnfitIsolation.OTHER).connection();
            promptFailures = 0;
            return made;
        } catch (SQLException e) {
            Connection made =
                    LentConnection.forStatements(source, UnfitIsolation.OTHER).connection();
            LOG.debug("the connection that listens for grants reads them up to a millisecond late", e);
            promptFailures++;
            return made;
        }
    }

    private boolean take(Connection made) {
        lock.lock();
        try {
            if (!closed) {
                connection = made;
                return true;
            }
        } finally {
            lock.unlock();
        }
        ConnectionDisposal.discard(made);
        return false;
    }

    private void run() {
        SplittableRandom random = new SplittableRandom(Randomness.nextLong());
        long pause = SHORTEST_PAUSE_MILLIS;
        while (true) {
            Connection present;
            lock.lock();
            try {
                present = connection;
                if (closed) {
                    return;
                }
            } finally {
                lock.unlock();
            }
            try {
                if (present == null) {
                    if (!take(connectToPrimary())) {
                        return;
                    }
                    // Notifications in between were missed.
                    listener.accept(new Signal.Resubscribed());
                    pause = SHORTEST_PAUSE_MILLIS;
                } else {
                    receive(present);
                }
            } catch (SQLException e) {
                LOG.debug("the connection that listens for grants was lost", e);
                pause = loseAndPause(present, random, pause);
            } catch (RuntimeException | Error e) {
                LOG.error("the connection that listens for grants failed; a new one is opened", e);
                pause = loseAndPause(present, random, pause);
            }
        }
    }

    /** Returns the next pause. */
    private long loseAndPause(@Nullable Connection present, SplittableRandom random, long pause) {
        lose(present);
        pause(pause / 2 + random.nextLong(pause / 2 + 1));
        return Math.min(LONGEST_PAUSE_MILLIS, pause * 2);
    }

    private void receive(Connection present) throws SQLException {
        PGNotification[] notifications = present.unwrap(PGConnection.class).getNotifications(READ_MILLIS);
        if (notifications == null || notifications.length == 0) {
            requireWritable(present);
            return;
        }
        for (PGNotification one : notifications) {
            SignalCodec.signal(one.getParameter()).ifPresent(listener);
        }
    }

    private Connection connectToPrimary() throws SQLException {
        Connection made = connect();
        try {
            requireWritable(made);
            failovers.check(made);
            return made;
        } catch (SQLException | RuntimeException | Error e) {
            ConnectionDisposal.discard(made);
            throw e;
        }
    }

    /** A demoted server that leaves its connections open sends no notifications. */
    private static void requireWritable(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW transaction_read_only")) {
            if (row.next() && row.getString(1).equals("on")) {
                throw new SQLException("The server is read-only, so it sends no notifications of grants", READ_ONLY);
            }
        }
    }

    private void lose(@Nullable Connection present) {
        if (present != null) {
            lock.lock();
            try {
                if (connection == present) {
                    connection = null;
                }
            } finally {
                lock.unlock();
            }
            ConnectionDisposal.discard(present);
        }
    }

    private void pause(long millis) {
        try {
            if (closing.await(millis, TimeUnit.MILLISECONDS)) {
                LOG.debug("no connection is needed any more");
            }
        } catch (InterruptedException e) {
            LOG.debug("unexpected interrupt ignored", e);
        }
    }

    /** Ends the connection, and with it the read under way. */
    @Override
    public void reconnect() {
        Connection present;
        lock.lock();
        try {
            present = connection;
            connection = null;
        } finally {
            lock.unlock();
        }
        ConnectionDisposal.discard(present);
    }

    @Override
    public void close() {
        Connection last;
        lock.lock();
        try {
            closed = true;
            last = connection;
            connection = null;
        } finally {
            lock.unlock();
        }
        closing.countDown();
        // An orderly close would wait for the read under way.
        ConnectionDisposal.discard(last);
    }
}
