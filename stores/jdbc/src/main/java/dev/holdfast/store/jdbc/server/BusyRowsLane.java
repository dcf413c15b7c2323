package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.SqlTemplates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lane of the commands that wait for rows locked by other transactions, while the {@link ServerLane} serves all others.
 * It waits in the server only with a transaction that needs no other row: nothing else stays locked meanwhile, not even
 * the session, which is locked after the row. On lent connections it polls instead, so that it keeps none.
 *
 * <p>It fails a command that could not proceed with {@link RowsBusyException} as the cause; the sender may retry. Round
 * trips are sequential.
 */
public final class BusyRowsLane implements Batcher.Trip {

    /** How long a command waits before it is rejected for good, with a message that names the locked row. */
    public static final Duration MAX_WAIT = Duration.ofSeconds(6);

    /** The pause between two polls. */
    private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

    /** The same for commands that need several rows, where each poll opens a connection. */
    private static final long OWN_PAUSE_NANOS = Duration.ofMillis(200).toNanos();

    private final LockTransactions transactions;
    private final CommandTransactions commandTransactions;
    private final Consumer<List<LedgerTransaction.Notification>> notifier;

    /** The names that the last command waited for; commands about others are served first. */
    private Set<ResourceName> waitedFor = Set.of();

    /** @param notifier as for {@link ServerLane} */
    public BusyRowsLane(
            Product product,
            SqlTemplates templates,
            ServerConnections connections,
            long client,
            Consumer<List<LedgerTransaction.Notification>> notifier) {
        this.transactions =
                new LockTransactions(product, templates, connections, ServerConnections.Use.LOCKED_ROWS, client);
        this.commandTransactions = new CommandTransactions(transactions);
        this.notifier = notifier;
    }

    @Override
    public void make(int lane, List<Call> calls) {
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        try {
            attempt(calls, notifications);
        } finally {
            // A round trip takes long, and there may be no other one soon.
            transactions.lose();
            if (!notifications.isEmpty()) {
                notifier.accept(notifications);
            }
        }
    }

    private void attempt(List<Call> calls, List<LedgerTransaction.Notification> notifications) {
        Set<ResourceName> names = new TreeSet<>();
        calls.forEach(call -> names.addAll(CommandTransactions.namesOf(call.command())));
        Set<ResourceName> locked = transactions.locked(names);
        List<Call> rest = new ArrayList<>();
        for (Call call : calls) {
            // One by one: a command that turns out to need more rows, or is locked again, delays no other.
            if (!Collections.disjoint(CommandTransactions.namesOf(call.command()), locked)
                    || !isDone(call, notifications, LockWait.BRIEF)) {
                rest.add(call);
            }
        }
        if (rest.size() == calls.size()) {
            Call first = chooseWaiting(rest);
            if (first == null) {
                LockSupport.parkNanos(transactions.canWaitInServer() ? OWN_PAUSE_NANOS : PAUSE_NANOS);
            } else if (isDone(first, notifications, LockWait.PATIENT)) {
                rest.remove(first);
            }
        }
        rest.stream()
                .filter(call -> !call.isAnswered())
                .forEach(call -> call.fail(new RowsBusyException(locked, null).failure()));
    }

    /** The first command that can wait in the server, if possible about another name than the last one. */
    private @Nullable Call chooseWaiting(List<Call> calls) {
        if (!transactions.canWaitInServer()) {
            return null;
        }
        Call chosen = null;
        for (Call call : calls) {
            Set<ResourceName> names = CommandTransactions.namesOf(call.command());
            boolean isFit = names.size() == 1;
            boolean isNext = isFit && !names.equals(waitedFor);
            if (isNext || (isFit && chosen == null)) {
                chosen = call;
            }
            if (isNext) {
                break;
            }
        }
        waitedFor = chosen == null ? Set.of() : CommandTransactions.namesOf(chosen.command());
        return chosen;
    }

    /** Whether a command was answered, even by a failure; otherwise its row is locked. */
    private boolean isDone(Call call, List<LedgerTransaction.Notification> notifications, LockWait wait) {
        try {
            commandTransactions.carryOut(List.of(call), notifications, wait);
            return true;
        } catch (RowsBusyException e) {
            call.fail(e.failure());
            return false;
        } catch (StoreException e) {
            call.fail(e);
            return true;
        }
    }
}
