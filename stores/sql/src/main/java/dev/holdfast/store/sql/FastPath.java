package dev.holdfast.store.sql;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.Tokens;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Taking a lock that is free, and giving back one that nobody waits for: one statement each, with all checks in it. Where a statement finds no row that passes
 * them it has changed nothing, and {@link Steps} finds out why.
 *
 * <p>Not thread-safe.
 */
final class FastPath {

    /**
     * The block that {@link Tokens#next} reserves where the counter is not ahead of the clock, in SQL. ?3 is the smallest token that may be given, ?4 the largest
     * that the clock allows, ?5 how many are wanted.
     */
    private static final String FIRST = "max(last_token + 1, ?3)";

    private static final String LAST = "min(" + FIRST + " + ?5 - 1, ?4)";

    private static final String TAKE =
            "UPDATE holdfast_resource SET session = ?1, claim = ?2, weight = ?6, first_token = " + FIRST
                    + ", end_token = " + LAST + ", last_token = " + LAST + ", ends = ?7, capacity = ?8"
                    + " WHERE name = ?9 AND session = 0 AND grants = 0 AND waiters = 0 AND spec = ?10"
                    + " AND last_token >= 0 AND last_token < ?4"
                    + " AND EXISTS (SELECT 1 FROM holdfast_session WHERE id = ?1 AND epoch <= ?11 AND deadline > ?12)"
                    + " RETURNING first_token, end_token";

    private static final String GIVE_BACK = "UPDATE holdfast_resource"
            + " SET session = 0, claim = 0, weight = 0, first_token = 0, end_token = 0, ends = 0, seq = 0"
            + " WHERE name = ?1 AND session = ?2 AND claim = ?3 AND waiters = 0 AND (ends <= 0 OR ends > ?4)"
            // A grant of a session that is over is not there any more, even if nobody has looked yet.
            + " AND EXISTS (SELECT 1 FROM holdfast_session WHERE id = ?2 AND deadline > ?4)";

    private static final Reply.Released RELEASED = new Reply.Released();
    private static final long LEAD = Tokens.LEAD_MICROS;

    private final Statements statements;

    FastPath(Statements statements) {
        this.statements = statements;
    }

    /**
     * Carries out a command by one statement if it can; null if it can't, and then nothing was changed.
     *
     * @param tokenFloor no token is given up to here
     * @param horizon no token is given above here
     */
    @Nullable
    Reply tryIt(Command command, StoreClock clock, long tokenFloor, long horizon) throws SQLException {
        if (command instanceof Acquire acquire) {
            boolean isPlain =
                    acquire.spec().kind() != Kind.LATCH && acquire.lease().binding() != Binding.DETACHED;
            return isPlain ? take(acquire, clock, tokenFloor, horizon) : null;
        }
        return command instanceof Release release ? giveBack(release, clock.nowMicros()) : null;
    }

    private @Nullable Reply take(Acquire acquire, StoreClock clock, long tokenFloor, long horizon) throws SQLException {
        long now = clock.nowMicros();
        long unix = clock.unixMicros();
        long smallest = Math.max(Tokens.floor(unix), tokenFloor + 1);
        long largest = Tokens.floor(unix + LEAD);
        if (smallest > largest || largest > Math.min(horizon, Tokens.MAX_TOKEN)) {
            return null;
        }
        long lease = Micros.of(acquire.lease().length());
        PreparedStatement update = statements.prepare(TAKE);
        update.setLong(1, Session.numberOf(acquire.claim().session()));
        update.setLong(2, acquire.claim().claim());
        update.setLong(3, smallest);
        update.setLong(4, largest);
        update.setInt(5, acquire.tokens());
        update.setInt(6, acquire.weight());
        update.setLong(7, lease == 0 ? 0 : now + lease);
        update.setInt(8, acquire.spec().capacity());
        update.setBytes(9, acquire.resource().utf8());
        update.setLong(10, Codes.of(acquire.spec()));
        update.setLong(11, acquire.epoch());
        update.setLong(12, now);
        try (ResultSet row = update.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            TokenBlock tokens = new TokenBlock(row.getLong(1), row.getLong(2));
            // The statement is over, and committed, when there is no further row; a driver may keep quiet about what
            // fails in close().
            if (row.next()) {
                throw Statements.damaged(acquire.resource(), "there are two rows of that name");
            }
            Optional<Duration> remaining = lease == 0 ? Optional.empty() : Optional.of(Micros.duration(lease));
            return new Reply.Granted(tokens, remaining, false);
        }
    }

    private @Nullable Reply giveBack(Release release, long now) throws SQLException {
        PreparedStatement update = statements.prepare(GIVE_BACK);
        update.setBytes(1, release.resource().utf8());
        update.setLong(2, Session.numberOf(release.claim().session()));
        update.setLong(3, release.claim().claim());
        update.setLong(4, now);
        return update.executeUpdate() == 1 ? RELEASED : null;
    }
}
