package dev.holdfast.store.jdbc;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.support.DurationFormat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How long a thread may block on a silent connection of a pool.
 *
 * @param longest zero if the driver can abort the connection meanwhile
 */
record ReadTimeout(Duration longest) {

    static final ReadTimeout NONE = new ReadTimeout(Duration.ZERO);

    static ReadTimeout of(Connection pooled) throws SQLException {
        if (!pooled.getMetaData().getDriverName().startsWith("MariaDB")) {
            return NONE;
        }
        int millis = pooled.getNetworkTimeout();
        return new ReadTimeout(millis == 0 ? Command.MAX_DURATION : Duration.ofMillis(millis));
    }

    /** A warning if the time-out is too long for sessions with this ttl; null if not. */
    @Nullable
    String warning(Duration ttl) {
        if (longest.multipliedBy(3).compareTo(ttl) <= 0) {
            return null;
        }
        return "an unresponsive connection of this pool may cost a client with a ttl of " + DurationFormat.format(ttl)
                + " its holds: the driver waits for an answer "
                + (longest.equals(Command.MAX_DURATION) ? "forever" : "for " + DurationFormat.format(longest))
                + ", more than a third of the ttl, and can't be interrupted; set the driver's socketTimeout "
                + "to a quarter of the ttl";
    }
}
