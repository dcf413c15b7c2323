package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease.Binding;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.CommandExecutor;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.Transaction;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Taking locks that are free, and giving back locks that nobody waits for: one statement for all that are asked for
 * together, with all checks in it. What a statement finds no row for it has not changed, and {@link CommandExecutor}
 * finds out why.
 *
 * <p>The checks are those of {@link Ledger}: a resource without grants and waiters that is declared as it is asked for,
 * a session that lives and whose epoch is not above the claim's, which stays so until the commit, and tokens as
 * {@link Tokens#next} gives them unless the counter is level with the clock. Not thread-safe.
 */
public abstract class ServerFastPath {

    /** No block that begins here or before goes beyond the last token. */
    public static final long LARGEST_FIRST = TokenBlock.MAX_TOKEN - TokenBlock.MAX_SIZE;

    public static final Reply.Released RELEASED = new Reply.Released();

    /** Whether a claim can be granted so. */
    public static boolean isPlain(Acquire acquire) {
        return acquire.spec().kind() != Kind.LATCH && acquire.lease().binding() != Binding.DETACHED;
    }

    /** Whether a statement that failed at a locked row has waited for it, and not passed by at once. */
    public abstract boolean waitsForRows();

    /** Whether these go as one statement, which needs no transaction around it. */
    public abstract boolean isOneStatement(List<Release> releases, List<Acquire> acquires);

    /** As {@link #isOneStatement}, of {@link #takeUnused}. */
    public boolean isOneStatementIfUnused(List<Acquire> acquires) {
        return isOneStatement(List.of(), acquires);
    }

    /**
     * Gives locks back, and takes locks; the names of each kind are different. What is given back may be taken at once.
     *
     * @return the replies, those to the releases first; null for each that could not be done so
     */
    public abstract List<@Nullable Reply> carryOut(
            StatementCache statements, List<Release> releases, List<Acquire> acquires) throws SQLException;

    /** As above, of one command. */
    @Nullable
    public Reply giveBack(StatementCache statements, Release release) throws SQLException {
        return carryOut(statements, List.of(release), List.of()).get(0);
    }

    /** As above, of one command. */
    @Nullable
    public Reply take(StatementCache statements, Acquire acquire) throws SQLException {
        return carryOut(statements, List.of(), List.of(acquire)).get(0);
    }

    /**
     * Takes locks that nobody has used yet, whose rows it makes; the names are different. One statement for those that
     * are alike.
     *
     * @return null for each that could not be done so: there is a row, as a rule
     */
    public abstract List<@Nullable Reply> takeUnused(StatementCache statements, List<Acquire> acquires)
            throws SQLException;

    /** As above, of one command. */
    @Nullable
    public Reply takeUnused(StatementCache statements, Acquire acquire) throws SQLException {
        return takeUnused(statements, List.of(acquire)).get(0);
    }

    /**
     * Gives a lock that others wait for to the one that waits longest: one statement, and the other client is told with
     * it.
     *
     * @param next what who had it asks for after that; null for nothing
     * @return null if it could not be done so, and nothing was changed
     */
    @Nullable
    public HandedOver handOver(StatementCache statements, ClaimRef held, @Nullable Acquire next) throws SQLException {
        return null;
    }

    /**
     * Puts a claim at the end of the queue for a lock that somebody holds: one statement, whose commit may be undone by
     * a crash.
     *
     * @return null if it could not be done so, and nothing was changed
     */
    public Reply.@Nullable Queued queue(StatementCache statements, Acquire acquire) throws SQLException {
        return null;
    }

    /**
     * What came of handing a lock over.
     *
     * @param reply to who had it
     * @param told to another claim of the same client, if that has it now
     * @param isAwaited whether somebody waits after that
     */
    public record HandedOver(Reply reply, Optional<Transaction.Notification> told, boolean isAwaited) {}

    /**
     * All tokens that are asked for: no block is larger than the lead over the clock lets it be, if it begins where the
     * clock stands.
     */
    public static Reply.Granted granted(Acquire acquire, long first) {
        Duration lease = acquire.lease().length();
        return new Reply.Granted(
                new TokenBlock(first, first + acquire.tokens() - 1),
                lease.isZero() ? Optional.empty() : Optional.of(lease),
                false);
    }

    /** {@link Tokens#floor} in SQL, of an expression for microseconds. */
    public static String floor(String micros, String divide) {
        return "((" + micros + ") " + divide + " 125 * 128 + (" + micros + ") % 125 * 128 " + divide + " 125)";
    }
}
