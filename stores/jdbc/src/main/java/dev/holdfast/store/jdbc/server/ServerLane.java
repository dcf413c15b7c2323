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
import dev.holdfast.store.ledger.Transaction;
import dev.holdfast.store.ledger.table.Session;
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
 * How commands become transactions on a database server: what came together goes together, the
 * {@linkplain FastPathRouter short way} what can, and the rest by {@link LockTransactions}.
 *
 * <p><b>Thread-safety:</b> trips, and work that is no command, go one after another.
 */
public final class ServerLane implements Batcher.Trip {

    /** Commands of one transaction that goes the long way: bounds the time for which it keeps its locks. */
    private static final int MOST_TOGETHER = 64;

    /** How many locked rows are known at the most, and how many that are waited for. */
    private static final int MOST_KNOWN = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(ServerLane.class);

    private final Product product;
    private final Consumer<List<Transaction.Notification>> telling;
    private final LockTransactions transactions;
    private final SessionTermination endings;
    private final CommandTransactions longWay;
    private final ServerFastPath fastPath;

    /** Held by a trip, and by work that is no command. */
    private final ReentrantLock lock = new ReentrantLock();

    /** What a caller has tried by the fast path, and left to the thread of the lane. */
    @GuardedBy("lock")
    private @Nullable Call tried;

    /** Names whose rows were found locked for long by somebody else. */
    @GuardedBy("lock")
    private final Set<ResourceName> locked = new HashSet<>();

    /** What was waited for when it was last looked at: that it is free would be tried in vain. */
    @GuardedBy("lock")
    private final Map<ResourceName, ResourceSpec> awaited = new HashMap<>();

    @GuardedBy("lock")
    private final KnownRows known = new KnownRows();

    /** @param telling is given what this client is to be told when a transaction is committed, with no lock held */
    public ServerLane(
            Product product,
            SqlTemplates templates,
            ServerConnections connections,
            long client,
            Consumer<List<Transaction.Notification>> telling) {
        this.product = product;
        this.telling = telling;
        this.transactions = new LockTransactions(product, templates, connections, ServerConnections.Use.LOCKS, client);
        this.endings = new SessionTermination(transactions);
        this.longWay = new CommandTransactions(transactions);
        this.fastPath = product.fastPath(templates, connections.areLent(), client);
    }

    @Override
    public void make(int lane, List<Call> calls) {
        List<Transaction.Notification> told = new ArrayList<>(0);
        lock.lock();
        try {
            Call before = tried;
            tried = null;
            List<Call> batch = new ArrayList<>(calls.size());
            for (Call call : calls) {
                if (call.command() instanceof CloseSession close) {
                    close(call, Session.numberOf(close.session()), told);
                } else {
                    batch.add(call);
                }
            }
            List<Call> free = withoutLocked(batch, told);
            List<Call> left = free.isEmpty() ? free : theShortWay(free, before, told);
            for (int from = 0; from < left.size(); from += MOST_TOGETHER) {
                together(left.subList(from, Math.min(left.size(), from + MOST_TOGETHER)), told);
            }
        } finally {
            lock.unlock();
            tell(told);
        }
    }

    /**
     * By the fast path, on the connection that is there: this makes none, asks the server for nothing else, and waits
     * for no answer of it for longer than the caller does.
     */
    @Override
    public boolean makeAtOnce(int lane, Call call) {
        if (!lock.tryLock()) {
            return false;
        }
        List<Transaction.Notification> told = new ArrayList<>(0);
        try {
            if (call.command() instanceof OnResource about && !locked.contains(about.resource())) {
                transactions.beginForCaller(call.timeout());
                tried = theShortWay(List.of(call), null, told).isEmpty() ? null : call;
            }
        } catch (StoreException e) {
            LOG.debug("a caller leaves a command to another thread", e);
        } finally {
            transactions.endForCaller();
            lock.unlock();
            tell(told);
        }
        return call.isAnswered();
    }

    /** Whether a caller can carry it out without keeping others. */
    public static boolean isForCallers(Command command) {
        return command instanceof Acquire || command instanceof Release || command instanceof Yield;
    }

    /**
     * Gives what is left to do.
     *
     * @param before what was tried so just before, if anything was
     */
    @GuardedBy("lock")
    private List<Call> theShortWay(List<Call> calls, @Nullable Call before, List<Transaction.Notification> told) {
        FastPathRouter shortWay =
                new FastPathRouter(product, transactions, fastPath, calls, before, awaited, known, told);
        List<Call> left = shortWay.go();
        return shortWay.locked().isEmpty() || left.isEmpty()
                ? left
                : refuse(left, new RowsBusyException(shortWay.locked(), null), told);
    }

    /**
     * Carries out work that is no command, as one transaction that has locked these names.
     *
     * @throws StoreException if that fails
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
     * @throws LockedRows if somebody keeps rows locked that this needs; nothing was done
     */
    void transactUnlessLocked(Set<ResourceName> names, LockTransactions.Work work) throws RowsBusyException {
        transactUnlessLocked(names, Set.of(), work);
    }

    /**
     * As above.
     *
     * @param needed those of the names that need a row: it is made where it is missing
     */
    void transactUnlessLocked(Set<ResourceName> names, Set<ResourceName> needed, LockTransactions.Work work)
            throws RowsBusyException {
        List<Transaction.Notification> told = new ArrayList<>(0);
        LockTransactions.Task task = new LockTransactions.Task(work);
        task.names.addAll(names);
        task.needed.addAll(needed);
        lock.lock();
        try {
            transactions.carryOutUnlessLocked(task, told, LockWait.BRIEF);
        } finally {
            lock.unlock();
        }
        tell(told);
    }

    /**
     * Drops those of these names that nobody uses, keeps locked or has as a latch, and that have no token above that
     * one: the floor is at it already. Tells which. A crash may undo it, but nothing that was committed before it.
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

    private void tell(List<Transaction.Notification> told) {
        if (!told.isEmpty()) {
            telling.accept(told);
        }
    }

    @GuardedBy("lock")
    private void together(List<Call> calls, List<Transaction.Notification> told) {
        try {
            if (longWay.carryOut(calls, told, LockWait.BRIEF)) {
                noteAwaited(calls);
            }
        } catch (RowsBusyException e) {
            List<Call> free = refuse(calls, e, told);
            if (!free.isEmpty()) {
                together(free, told);
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
                    known.add(about.resource()); // its row was made if it was not there
                }
                spec.ifPresentOrElse(is -> awaited.put(about.resource(), is), () -> awaited.remove(about.resource()));
            }
        }
    }

    /** Tells whether it could be answered. */
    @GuardedBy("lock")
    private boolean pollAround(Call call, Poll poll, Set<ResourceName> names, List<Transaction.Notification> told) {
        LockSkippingPoll around = new LockSkippingPoll(poll, names);
        try {
            transactions.carryOut(around.task(longWay.steps()), told);
        } catch (StoreException e) {
            return false;
        }
        if (around.isComplete()) {
            call.answer(around.reply());
        }
        return around.isComplete();
    }

    /**
     * Refuses what is about rows that somebody keeps locked, which may then wait for them elsewhere, or all if that
     * can't be told apart.
     *
     * @return the others that are not answered yet
     */
    @GuardedBy("lock")
    private List<Call> refuse(List<Call> calls, RowsBusyException why, List<Transaction.Notification> told) {
        if (locked.size() > MOST_KNOWN) {
            locked.clear();
        }
        locked.addAll(why.names());
        List<Call> others = calls.stream()
                .filter(call -> Collections.disjoint(CommandTransactions.namesOf(call.command()), why.names()))
                .toList();
        if (others.size() == calls.size()) {
            if (calls.size() > 1 && !why.names().isEmpty()) {
                // One of them turned out to be about more than it says.
                calls.forEach(call -> together(List.of(call), told));
            } else {
                calls.forEach(call -> call.fail(why.failure()));
            }
            return List.of();
        }
        for (Call call : calls) {
            if (!others.contains(call)
                    && !(call.command() instanceof Poll poll && pollAround(call, poll, why.names(), told))) {
                call.fail(why.failure());
            }
        }
        return others;
    }

    /**
     * Nobody waits a second time here for a row that was found locked: what is about it is refused until it is free.
     */
    @GuardedBy("lock")
    private List<Call> withoutLocked(List<Call> calls, List<Transaction.Notification> told) {
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
            return still.isEmpty() ? calls : refuse(calls, new RowsBusyException(still, null), told);
        } catch (StoreException e) {
            calls.forEach(call -> call.fail(e));
            return List.of();
        }
    }

    private void close(Call call, long id, List<Transaction.Notification> told) {
        try {
            endings.end(id, told);
            call.answer(new Reply.Done());
        } catch (StoreException e) {
            call.fail(e);
        }
    }

    /**
     * Ends a session with all that it holds and waits for: itself at once, so that nothing new comes to it, and then
     * what it has, part by part.
     */
    public void end(long id) {
        List<Transaction.Notification> told = new ArrayList<>(0);
        lock.lock();
        try {
            endings.end(id, told);
        } finally {
            lock.unlock();
            tell(told);
        }
    }
}
