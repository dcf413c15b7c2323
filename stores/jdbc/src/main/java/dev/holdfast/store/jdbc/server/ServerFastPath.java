package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Acquires free locks and releases locks without waiters, with one statement for all commands of a batch that includes
 * all checks. A command for which the statement finds no row has changed nothing; {@link LedgerExecutor} then executes
 * it by the full rules.
 *
 * <p>The checks are those of {@link Ledger}: the resource has no grants or waiters and is declared as requested; the
 * session is alive until the commit and its epoch is not above the claim's; and tokens are those of {@link
 * Tokens#next}, unless the counter is level with the clock. Not thread-safe.
 */
public abstract class ServerFastPath {

    /** A block that begins here or before does not exceed the last token. */
    public static final long LARGEST_FIRST = TokenBlock.MAX_TOKEN - TokenBlock.MAX_SIZE;

    public static final Reply.Released RELEASED = new Reply.Released();

    /** Whether the fast path can grant a claim. */
    public static boolean isPlain(Acquire acquire) {
        return acquire.spec().kind() != Kind.LATCH && acquire.lease().binding() != Binding.DETACHED;
    }

    /** Whether a statement waits for a locked row before it fails, instead of skipping it. */
    public abstract boolean waitsForRows();

    /** Whether these are one statement, which needs no explicit transaction. */
    public abstract boolean isOneStatement(List<Release> releases, List<Acquire> acquires);

    /** As {@link #isOneStatement}, for {@link #takeUnused}. */
    public boolean isOneStatementIfUnused(List<Acquire> acquires) {
        return isOneStatement(List.of(), acquires);
    }

    /**
     * Releases and acquires locks; the names of each kind are distinct. A released lock may be acquired again at once.
     *
     * @return the replies, those to the releases first; null for each command that the statement could not execute
     */
    public abstract List<@Nullable Reply> carryOut(
            StatementCache statements, List<Release> releases, List<Acquire> acquires) throws SQLException;

    /** As above, of one command. */
    @Nullable
    public Reply release(StatementCache statements, Release release) throws SQLException {
        return carryOut(statements, List.of(release), List.of()).get(0);
    }

    /** As above, of one command. */
    @Nullable
    public Reply take(StatementCache statements, Acquire acquire) throws SQLException {
        return carryOut(statements, List.of(), List.of(acquire)).get(0);
    }

    /**
     * Acquires locks that were never used, and inserts their rows; the names are distinct. One statement for commands
     * with equal parameters.
     *
     * @return null for each command that it could not execute, usually because there is a row
     */
    public abstract List<@Nullable Reply> takeUnused(StatementCache statements, List<Acquire> acquires)
            throws SQLException;

    /** As above, of one command. */
    @Nullable
    public Reply takeUnused(StatementCache statements, Acquire acquire) throws SQLException {
        return takeUnused(statements, List.of(acquire)).get(0);
    }

    /**
     * Hands a lock over to the claim that has waited longest, with one statement that also notifies the other client.
     *
     * @param next the previous holder's next claim; null for none
     * @return null if this was not possible, with nothing changed
     */
    @Nullable
    public HandedOver handOver(StatementCache statements, ClaimRef grant, @Nullable Acquire next) throws SQLException {
        return null;
    }

    /**
     * Appends a claim to the queue of a held lock, with one statement whose commit a crash may undo.
     *
     * @return null if this was not possible, with nothing changed
     */
    public Reply.@Nullable Queued queue(StatementCache statements, Acquire acquire) throws SQLException {
        return null;
    }

    /**
     * The result of a hand-over.
     *
     * @param reply to the previous holder
     * @param notification for another claim of the same client, if that is the new holder
     * @param isAwaited whether there are more waiters
     */
    public record HandedOver(Reply reply, Optional<LedgerTransaction.Notification> notification, boolean isAwaited) {}

    /**
     * The reply with as many tokens as requested: a block that begins at the clock's time is never too large for the
     * permitted lead over the clock.
     */
    public static Reply.Granted granted(Acquire acquire, long first) {
        Duration lease = acquire.lease().length();
        return new Reply.Granted(
                new TokenBlock(first, first + acquire.tokens() - 1),
                lease.isZero() ? Optional.empty() : Optional.of(lease),
                false);
    }

    /** {@link Tokens#floor} in SQL, for an expression in microseconds. */
    public static String floor(String micros, String divide) {
        return "((" + micros + ") " + divide + " 125 * 128 + (" + micros + ") % 125 * 128 " + divide + " 125)";
    }
}
