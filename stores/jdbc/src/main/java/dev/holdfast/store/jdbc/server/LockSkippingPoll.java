package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A poll of many claims, some of which are on locked rows. Claims cannot be granted while the row is locked, so their
 * state is read without a lock. The others are polled as usual. One object serves one poll.
 */
final class LockSkippingPoll {

    /** The row may be unlocked by then. */
    private static final Duration RECHECK = Duration.ofMillis(100);

    private final Poll poll;
    private final Set<ResourceName> locked;
    private final Map<ClaimRef, Reply.ClaimReply> states = new HashMap<>();

    LockSkippingPoll(Poll poll, Set<ResourceName> locked) {
        this.poll = poll;
        this.locked = locked;
    }

    /** A task that polls the claims whose rows are not locked. */
    LockTransactions.Task task(LedgerExecutor executor) {
        List<ClaimRef> free = poll.claims().stream()
                .filter(claim -> !locked.contains(claim.resource()))
                .toList();
        LockTransactions.Task task = new LockTransactions.Task(ledger -> {
            states.clear();
            if (executor.answer(new Poll(free)) instanceof Reply.Polled polled) {
                for (int i = 0; i < free.size(); i++) {
                    states.put(free.get(i), polled.states().get(i));
                }
            }
            for (ClaimRef claim : poll.claims()) {
                if (locked.contains(claim.resource())
                        && waits(claim, ledger.context().statements())) {
                    states.put(claim, new Reply.Queued(RECHECK));
                }
            }
        });
        free.forEach(claim -> task.names.add(claim.resource()));
        return task;
    }

    private static boolean waits(ClaimRef claim, StatementCache statements) throws SQLException {
        PreparedStatement select = statements.prepare(SqlTemplate.CLAIM);
        select.setLong(1, SessionRow.numberOf(claim.session()));
        select.setLong(2, claim.claim());
        select.setBytes(3, claim.resource().utf8());
        try (ResultSet row = select.executeQuery()) {
            return row.next() && row.getInt(11) == 0;
        }
    }

    /** Whether all claims can be answered: without its row, only a waiting claim can be. */
    boolean isComplete() {
        return states.keySet().containsAll(poll.claims());
    }

    Reply reply() {
        return new Reply.Polled(poll.claims().stream().map(states::get).toList());
    }
}
