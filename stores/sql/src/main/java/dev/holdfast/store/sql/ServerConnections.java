package dev.holdfast.store.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one store: one for locks, one that renews sessions, each made when it is needed. Those of our own stay open; those of somebody's pool go back after each trip.
 *
 * <p><b>Thread-safety:</b> each use belongs to one thread at a time.
 */
final class ServerConnections {

    /** What a connection is for. */
    enum Use {
        LOCKS,
        SESSIONS
    }

    private static final Logger LOG = LoggerFactory.getLogger(ServerConnections.class);

    private final DataSource source;
    private final boolean isPool;

    /** Guarded by this. */
    private @Nullable Product product;

    /** Guarded by this. */
    private final Map<Use, Connection> open = new EnumMap<>(Use.class);

    /** Guarded by this. */
    private boolean closed;

    /** @param isPool whether connections go back as soon as possible */
    ServerConnections(DataSource source, boolean isPool) {
        this.source = source;
        this.isPool = isPool;
    }

    /** Whether connections are somebody else's, and go back as they came. */
    boolean areLent() {
        return isPool;
    }

    /** To be called when it is known what the connections are to. */
    void know(Product known) throws SQLException {
        Connection first;
        synchronized (this) {
            product = known;
            first = open.get(Use.LOCKS);
        }
        if (first != null && !isPool) {
            known.boundWaits(first);
        }
    }

    /** The connection for a use, made if there is none. It commits each statement by itself, and each statement sees what was committed before. */
    Connection get(Use use) throws SQLException {
        Connection known;
        Product bounding;
        synchronized (this) {
            known = open.get(use);
            bounding = isPool ? null : product;
        }
        if (known != null) {
            return known;
        }
        Connection made = source.getConnection();
        try {
            if (!made.getAutoCommit()) {
                made.setAutoCommit(true);
            }
            if (made.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
                made.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            if (bounding != null) {
                bounding.boundWaits(made);
            }
        } catch (SQLException e) {
            end(made);
            throw e;
        }
        synchronized (this) {
            if (!closed) {
                open.put(use, made);
                return made;
            }
        }
        end(made);
        throw new SQLException("The store was closed", "08003");
    }

    /** Called after each trip. */
    void rest(Use use, Statements statements) {
        if (isPool) {
            statements.forget();
            drop(use);
        }
    }

    /** Gives a connection back, or ends it. */
    void drop(Use use) {
        Connection known;
        synchronized (this) {
            known = open.remove(use);
        }
        end(known);
    }

    void close() {
        synchronized (this) {
            closed = true;
        }
        for (Use use : Use.values()) {
            drop(use);
        }
    }

    private static void end(@Nullable Connection connection) {
        if (connection != null) {
            try {
                connection.close();
            } catch (SQLException e) {
                LOG.debug("a connection could not be closed in order", e);
            }
        }
    }
}
