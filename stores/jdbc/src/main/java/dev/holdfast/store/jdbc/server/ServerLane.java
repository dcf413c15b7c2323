package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns batches of commands into transactions on a database server: by the {@linkplain FastPathRouter fast path} where
 * possible, and otherwise by {@link LockTransactions}.
 *
 * <p><b>Thread-safety:</b> round trips and other work are sequential.
 */
public final class ServerLane implements Batcher.Trip {

    /** The most commands in one transaction, which limits how long it keeps its locks. */
    private static final int MOST_TOGETHER = 64;

    /** The most locked rows, and the most resources with waiters, to remember. */
    private static final int MOST_KNOWN = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(ServerLane.class);

    private final Product product;
    private final Consumer<List<LedgerTransaction.Notification>> notifier;
    private final LockTransactions transactions;
    private final SessionTermination endings;
    private final CommandTransactions commandTransactions;
    private final ServerFastPath fastPath;

    /** Held during a round trip or other work. */
    private final ReentrantLock lock = new ReentrantLock();

    /** The command that a caller tried on the fast path and left to the lane's thread. */
    @GuardedBy("lock")
    private @Nullable Call tried;

    /** Names whose rows other transactions kept locked for long. */
    @GuardedBy("lock")
    private final Set<ResourceName> locked = new HashSet<>();

    /** Resources that had waiters when last read, so that the fast path for free locks would fail. */
    @GuardedBy("lock")
    private final Map<ResourceName, ResourceSpec> awaited = new HashMap<>();

    @GuardedBy("lock")
    private final KnownRows known = new KnownRows();

    /** @param notifier receives the notifications for this client after each commit, with no lock held */
    public ServerLane(
            Product product,
            SqlTemplates templates,
            ServerConnections connections,
            long client,
            Consumer<List<LedgerTransaction.Notification>> notifier) {
        this.product = product;
        this.notifier = notifier;
        this.transactions = new LockTransactions(product, templates, connections, ServerConnections.Use.LOCKS, client);
        this.endings = new SessionTermination(transactions);
        this.commandTransactions = new CommandTransactions(transactions);
        this.fastPath = product.fastPath(templates, connections.areLent(), client);
    }

    @Override
    public void make(int lane, List<Call> calls) {
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        lock.lock();
        try {
            Call before = tried;
            tried = null;
            List<Call> batch = new ArrayList<>(calls.size());
            for (Call call : calls) {
                if (call.command() instanceof CloseSession close) {
                    close(call, SessionRow.numberOf(close.session()), notifications);
                } else {
                    batch.add(call);
                }
            }
            List<Call> free = withoutLocked(batch, notifications);
            List<Call> left = free.isEmpty() ? free : runFastPath(free, before, notifications);
            for (int from = 0; from < left.size(); from += MOST_TOGETHER) {
                runTransaction(left.subList(from, Math.min(left.size(), from + MOST_TOGETHER)), notifications);
            }
        } finally {
            lock.unlock();
            deliver(notifications);
        }
    }

    /**
     * Tries the fast path on the present connection: it opens none, makes no other request, and waits for an answer no
     * longer than the caller does.
     */
    @Override
    public boolean makeAtOnce(int lane, Call call) {
        if (!lock.tryLock()) {
            return false;
        }
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        try {
            if (call.command() instanceof OnResource about && !locked.contains(about.resource())) {
                transactions.beginForCaller(call.timeout());
                tried = runFastPath(List.of(call), null, notifications).isEmpty() ? null : call;
            }
        } catch (StoreException e) {
            LOG.debug("the caller passes a command to another thread", e);
        } finally {
            transactions.endForCaller();
            lock.unlock();
            deliver(notifications);
        }
        return call.isAnswered();
    }

    /** Whether a caller may execute the command without delaying others. */
    public static boolean isForCallers(Command command) {
        return command instanceof Acquire || command instanceof Release || command instanceof Yield;
    }

    /**
     * Returns the commands that are left.
     *
     * @param before the command that was just tried this way; null if none
     */
    @GuardedBy("lock")
    private List<Call> runFastPath(
            List<Call> calls, @Nullable Call before, List<LedgerTransaction.Notification> notifications) {
        FastPathRouter router =
                new FastPathRouter(product, transactions, fastPath, calls, before, awaited, known, notifications);
        List<Call> left = router.route();
        return router.locked().isEmpty() || left.isEmpty()
                ? left
                : refuse(left, new RowsBusyException(router.locked(), null), notifications);
    }

    /**
     * Does work other than a command, in one transaction that locks these names.
     *
     * @throws StoreException if it fails
     */
    public void transact(Set<ResourceName> names, LockTransactions.Work work) {
        try {
            transactUnlessLocked(names, work);
        } catch (RowsBusyException e) {
            throw e.failure();
        }
    }

    /**
     * As {@link #transact}.
     *
     * @throws RowsBusyException if other transactions lock rows that this needs; nothing was done
     */
    void transactUnlessLocked(Set<ResourceName> names, LockTransactions.Work work) throws RowsBusyException {
        transactUnlessLocked(names, Set.of(), work);
    }

    /**
     * As above.
     *
     * @param needed the names that must have a row, which is inserted if missing
     */
    void transactUnlessLocked(Set<ResourceName> names, Set<ResourceName> needed, LockTransactions.Work work)
            throws RowsBusyException {
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        LockTransactions.Task task = new LockTransactions.Task(work);
        task.names.addAll(names);
        task.needed.addAll(needed);
        lock.lock();
        try {
            transactions.carryOutUnlessLocked(task, notifications, LockWait.BRIEF);
        } finally {
            lock.unlock();
        }
        deliver(notifications);
    }

    /**
     * Drops the names that are unused, not locked, not latches, and have no token above {@code newest}, which the floor
     * has already reached. Returns the dropped names. A crash may undo this, but nothing that was committed before it.
     */
    public Set<ResourceName> drop(List<ResourceName> names, long newest) {
        Set<ResourceName> dropped = new HashSet<>();
        LockTransactions.Task task = new LockTransactions.Task(
                ledger -> {
                    dropped.clear();
                    StatementCache statements = ledger.context().statements();
                    dropped.addAll(StatementCache.names(product.lockingAtRest(statements, keys(names), newest)));
                    if (!dropped.isEmpty()) {
                        product.delete(statements, keys(dropped));
                    }
                },
                () -> true);
        lock.lock();
        try {
            transactions.carryOut(task, new ArrayList<>(0));
        } finally {
            lock.unlock();
        }
        return dropped;
    }

    private static List<byte[]> keys(Collection<ResourceName> names) {
        return names.stream().map(ResourceName::utf8).toList();
    }

    private void deliver(List<LedgerTransaction.Notification> notifications) {
        if (!notifications.isEmpty()) {
            notifier.accept(notifications);
        }
    }

    @GuardedBy("lock")
    private void runTransaction(List<Call> calls, List<LedgerTransaction.Notification> notifications) {
        try {
            if (commandTransactions.carryOut(calls, notifications, LockWait.BRIEF)) {
                noteAwaited(calls);
            }
        } catch (RowsBusyException e) {
            List<Call> free = refuse(calls, e, notifications);
            if (!free.isEmpty()) {
                runTransaction(free, notifications);
            }
        }
    }

    @GuardedBy("lock")
    private void noteAwaited(List<Call> calls) {
        if (awaited.size() > MOST_KNOWN) {
            awaited.clear();
        }
        for (Call call : calls) {
            if (call.command() instanceof OnResource about) {
                Optional<ResourceSpec> spec = transactions.ledger().resources().awaited(about.resource());
                if (call.command() instanceof Acquire) {
                    known.add(about.resource()); // its row now exists
                }
                spec.ifPresentOrElse(is -> awaited.put(about.resource(), is), () -> awaited.remove(about.resource()));
            }
        }
    }

    /** Returns whether the poll was answered. */
    @GuardedBy("lock")
    private boolean pollAround(
            Call call, Poll poll, Set<ResourceName> names, List<LedgerTransaction.Notification> notifications) {
        LockSkippingPoll around = new LockSkippingPoll(poll, names);
        try {
            transactions.carryOut(around.task(commandTransactions.executor()), notifications);
        } catch (StoreException e) {
            return false;
        }
        if (around.isComplete()) {
            call.answer(around.reply());
        }
        return around.isComplete();
    }

    /**
     * Rejects the commands about locked rows, which may then wait in another lane, or all if the rows are unknown.
     *
     * @return the other commands that are not answered yet
     */
    @GuardedBy("lock")
    private List<Call> refuse(
            List<Call> calls, RowsBusyException why, List<LedgerTransaction.Notification> notifications) {
        if (locked.size() > MOST_KNOWN) {
            locked.clear();
        }
        locked.addAll(why.names());
        List<Call> others = calls.stream()
                .filter(call -> Collections.disjoint(CommandTransactions.namesOf(call.command()), why.names()))
                .toList();
        if (others.size() == calls.size()) {
            if (calls.size() > 1 && !why.names().isEmpty()) {
                // One of them turned out to need more rows than it names.
                calls.forEach(call -> runTransaction(List.of(call), notifications));
            } else {
                calls.forEach(call -> call.fail(why.failure()));
            }
            return List.of();
        }
        for (Call call : calls) {
            if (!others.contains(call)
                    && !(call.command() instanceof Poll poll && pollAround(call, poll, why.names(), notifications))) {
                call.fail(why.failure());
            }
        }
        return others;
    }

    /**
     * Rejects commands about rows that were found locked, until these are unlocked, so that this lane does not wait for
     * them again.
     */
    @GuardedBy("lock")
    private List<Call> withoutLocked(List<Call> calls, List<LedgerTransaction.Notification> notifications) {
        if (locked.isEmpty()) {
            return calls;
        }
        Set<ResourceName> asked = new TreeSet<>();
        calls.forEach(call -> asked.addAll(CommandTransactions.namesOf(call.command())));
        asked.retainAll(locked);
        if (asked.isEmpty()) {
            return calls;
        }
        try {
            Set<ResourceName> still = transactions.locked(asked);
            locked.removeAll(asked);
            return still.isEmpty() ? calls : refuse(calls, new RowsBusyException(still, null), notifications);
        } catch (StoreException e) {
            calls.forEach(call -> call.fail(e));
            return List.of();
        }
    }

    private void close(Call call, long id, List<LedgerTransaction.Notification> notifications) {
        try {
            endings.end(id, notifications);
            call.answer(new Reply.Done());
        } catch (StoreException e) {
            call.fail(e);
        }
    }

    /**
     * Ends a session with all its claims: first its row, so that it can claim nothing more, and then its claims, in
     * several transactions.
     */
    public void end(long id) {
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        lock.lock();
        try {
            endings.end(id, notifications);
        } finally {
            lock.unlock();
            deliver(notifications);
        }
    }
}
