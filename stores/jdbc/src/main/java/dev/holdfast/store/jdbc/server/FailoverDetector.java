package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Signal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Detects that connections lead to another server than before, or to one that was promoted. Acknowledged commits may be
 * missing there, so that another client could get a lock that is held. It checks new connections, not each round trip.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class FailoverDetector {

    private static final Logger LOG = LoggerFactory.getLogger(FailoverDetector.class);

    private final Product product;
    private final Consumer<Signal> listener;
    private final AtomicReference<@Nullable String> known = new AtomicReference<>();

    /** Pooled connections that were checked. A connection never changes its server. Guarded by itself. */
    private final Set<Connection> asked = Collections.newSetFromMap(new WeakHashMap<>());

    /** Whether the server does not reveal its identity, as some hosted services do. */
    private volatile boolean isSilent;

    /** @param listener is notified of each fail-over, on the thread that notices it */
    public FailoverDetector(Product product, Consumer<Signal> listener) {
        this.product = product;
        this.listener = listener;
    }

    /**
     * Checks a new connection of the store's own.
     *
     * @throws SQLException if the connection is lost
     */
    public void check(Connection connection) throws SQLException {
        if (isSilent) {
            return;
        }
        String present;
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(product.identity())) {
            present = row.next() ? row.getString(1) : null;
        } catch (SQLException e) {
            if (product.isConnectionLost(e)) {
                throw e;
            }
            LOG.debug("the server does not identify itself; the next audit will detect a fail-over", e);
            isSilent = true;
            return;
        }
        String before = known.getAndSet(present);
        if (before != null && !before.equals(present)) {
            LOG.info(
                    "store={} another server now answers, {} instead of {}; holds are audited",
                    product.title(),
                    present,
                    before);
            listener.accept(new Signal.FailedOver());
        }
    }

    /**
     * Checks a lent connection the first time it is lent. If a pool hides which one it is, only keep-alives check.
     *
     * @param isRegular whether the command is a keep-alive or similarly rare
     * @throws SQLException if the connection is lost
     */
    public void checkLent(Connection lent, boolean isRegular) throws SQLException {
        Connection bare = bare(lent);
        if (bare == lent) {
            if (isRegular) {
                check(lent);
            }
            return;
        }
        boolean isNew;
        synchronized (asked) {
            isNew = asked.add(bare);
        }
        if (isNew) {
            check(lent);
        }
    }

    private static Connection bare(Connection lent) {
        try {
            return lent.unwrap(Connection.class);
        } catch (SQLException e) {
            return lent; // the pool hides it
        }
    }
}
