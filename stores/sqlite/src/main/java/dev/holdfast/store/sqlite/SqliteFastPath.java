package dev.holdfast.store.sqlite;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.StoreClock;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Acquires a free lock, and releases one without waiters, with one statement each that includes all checks. If no row
 * passes them, the statement has changed nothing, and {@link LedgerExecutor} executes the command by the full rules.
 *
 * <p>Not thread-safe.
 */
final class SqliteFastPath {

    /**
     * Acquires a free resource for a live session. The tokens begin at the clock's time, as {@link Tokens#next}
     * computes them unless the counter is level with it, so nothing must be read back.
     */
    private static final String ACQUIRE =
            "UPDATE holdfast_resource SET session = ?1, claim = ?2, weight = ?3, first_token = ?4, end_token = ?5,"
                    + " last_token = ?5, ends = ?6, seq = 0"
                    + " WHERE name = ?7 AND session = 0 AND grants = 0 AND waiters = 0 AND spec = ?8"
                    // An invalid row is not free: the ledger reports what is wrong with it.
                    + " AND capacity = spec >> 16 AND shared = 0 AND last_token >= 0 AND last_token < ?4"
                    + " AND EXISTS (SELECT 1 FROM holdfast_session WHERE id = ?1 AND epoch <= ?9 AND deadline > ?10)";

    /**
     * Releases a grant. Without a session, the grant's other columns have no meaning. A grant whose session has expired
     * counts as ended, even if its row is still there.
     */
    private static final String RELEASE = "UPDATE holdfast_resource SET session = 0"
            + " WHERE name = ?1 AND session = ?2 AND claim = ?3 AND waiters = 0 AND (ends <= 0 OR ends > ?4)"
            + " AND EXISTS (SELECT 1 FROM holdfast_session WHERE id = ?2 AND deadline > ?4)";

    private static final Reply.Released RELEASED = new Reply.Released();
    private static final long LEAD = Tokens.LEAD_MICROS;

    private final StatementCache statements;

    SqliteFastPath(StatementCache statements) {
        this.statements = statements;
    }

    /**
     * Executes a command with one statement; null if this was not possible, with nothing changed.
     *
     * @param tokenFloor tokens must be greater than this
     * @param horizon tokens must not be greater than this
     */
    @Nullable
    Reply tryIt(Command command, StoreClock clock, long tokenFloor, long horizon) throws SQLException {
        if (command instanceof Acquire acquire) {
            boolean isPlain =
                    acquire.spec().kind() != Kind.LATCH && acquire.lease().binding() != Binding.DETACHED;
            return isPlain ? take(acquire, clock, tokenFloor, horizon) : null;
        }
        return command instanceof Release release && !release.isAnnotated()
                ? release(release, clock.nowMicros())
                : null;
    }

    private @Nullable Reply take(Acquire acquire, StoreClock clock, long tokenFloor, long horizon) throws SQLException {
        long now = clock.nowMicros();
        long unix = clock.unixMicros();
        long smallest = Math.max(Tokens.floor(unix), tokenFloor + 1);
        long largest = Tokens.floor(unix + LEAD);
        if (smallest > largest || largest > Math.min(horizon, TokenBlock.MAX_TOKEN)) {
            return null;
        }
        TokenBlock tokens = new TokenBlock(smallest, Math.min(smallest + acquire.tokens() - 1, largest));
        long lease = Micros.of(acquire.lease().length());
        PreparedStatement update = statements.prepare(ACQUIRE);
        update.setLong(1, SessionRow.numberOf(acquire.claim().session()));
        update.setLong(2, acquire.claim().claim());
        update.setInt(3, acquire.weight());
        update.setLong(4, tokens.first());
        update.setLong(5, tokens.last());
        update.setLong(6, lease == 0 ? 0 : now + lease);
        update.setBytes(7, acquire.resource().utf8());
        update.setLong(8, ColumnCodes.of(acquire.spec()));
        update.setLong(9, acquire.epoch());
        update.setLong(10, now);
        if (update.executeUpdate() == 0) {
            return null;
        }
        Optional<Duration> remaining = lease == 0 ? Optional.empty() : Optional.of(Micros.duration(lease));
        return new Reply.Granted(tokens, remaining, false);
    }

    private @Nullable Reply release(Release release, long now) throws SQLException {
        PreparedStatement update = statements.prepare(RELEASE);
        update.setBytes(1, release.resource().utf8());
        update.setLong(2, SessionRow.numberOf(release.claim().session()));
        update.setLong(3, release.claim().claim());
        update.setLong(4, now);
        return update.executeUpdate() == 1 ? RELEASED : null;
    }
}
