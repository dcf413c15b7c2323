package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.Command.Claiming;
import dev.holdfast.spi.Command.ListRuns;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.SessionRow;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Executes the commands of a batch in one transaction, by the full rules. Not thread-safe. */
final class CommandTransactions {

    private final LockTransactions transactions;
    private final LedgerExecutor executor;

    CommandTransactions(LockTransactions transactions) {
        this.transactions = transactions;
        this.executor = new LedgerExecutor(transactions.ledger(), transactions.context());
    }

    LockTransactions transactions() {
        return transactions;
    }

    LedgerExecutor executor() {
        return executor;
    }

    /**
     * Answers all commands, even if by a failure.
     *
     * @param notifications collects the notifications for this client
     * @return whether all were executed in one transaction
     * @throws RowsBusyException if other transactions lock rows that one of them needs; nothing was done
     */
    @CanIgnoreReturnValue
    boolean carryOut(List<Call> calls, List<LedgerTransaction.Notification> notifications, LockWait wait)
            throws RowsBusyException {
        Reply[] replies = new Reply[calls.size()];
        LockTransactions.Task task = new LockTransactions.Task(
                state -> {
                    for (int i = 0; i < replies.length; i++) {
                        replies[i] = executor.answer(calls.get(i).command());
                    }
                },
                // A waiter polls, finds its claim missing, and claims again.
                () -> Arrays.stream(replies).allMatch(Reply.Queued.class::isInstance)
                        // A Yield has released its grant even if no other claim was granted.
                        && calls.stream().noneMatch(call -> call.command() instanceof Yield));
        calls.forEach(call -> about(call.command(), task));
        try {
            transactions.carryOutUnlessLocked(task, notifications, wait);
        } catch (StoreException e) {
            if (calls.size() > 1 && e.effect() == Effect.NONE && mayConcernOne(calls, e)) {
                // The others should not fail for it.
                calls.forEach(call -> alone(call, notifications, wait));
            } else {
                calls.forEach(call -> call.fail(e));
            }
            return false;
        }
        for (int i = 0; i < replies.length; i++) {
            calls.get(i).answer(replies[i]);
        }
        return true;
    }

    /** Whether a failure may be the fault of one command: of its row, or of a table that only such commands use. */
    private static boolean mayConcernOne(List<Call> calls, StoreException e) {
        return switch (e.reason()) {
            case CORRUPT -> true;
            case DENIED ->
                calls.stream()
                        .map(Call::command)
                        .anyMatch(
                                one -> one instanceof RecordRun || one instanceof ListRuns || one instanceof Annotate);
            default -> false;
        };
    }

    private void alone(Call call, List<LedgerTransaction.Notification> notifications, LockWait wait) {
        try {
            carryOut(List.of(call), notifications, wait);
        } catch (RowsBusyException e) {
            call.fail(e.failure());
        }
    }

    /** The resources that a command names. */
    static Set<ResourceName> namesOf(Command command) {
        LockTransactions.Task task = new LockTransactions.Task(state -> {});
        about(command, task);
        return task.names;
    }

    private static void about(Command command, LockTransactions.Task task) {
        if (command instanceof OnResource onResource && !(command instanceof ListRuns)) {
            task.names.add(onResource.resource());
            // Two attempts to record the same run must not both find it missing.
            if (command instanceof Claiming || command instanceof SetCount || command instanceof RecordRun) {
                task.needed.add(onResource.resource());
            }
        } else if (command instanceof Poll poll) {
            poll.claims().forEach(claim -> task.names.add(claim.resource()));
        }
        if (command instanceof SetCount set) {
            task.sessions.add(SessionRow.numberOf(set.session()));
        } else if (command instanceof Resize resize) {
            task.sessions.add(SessionRow.numberOf(resize.session()));
        } else if (command instanceof Claiming claiming) {
            task.sessions.add(SessionRow.numberOf(claiming.claim().session()));
        }
    }
}
