package dev.holdfast.store.sqlite;

import static java.util.Objects.requireNonNullElse;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Batcher;
import dev.holdfast.store.ledger.Ledger;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.LedgerTransaction;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection, and how commands become transactions on it: a single command is one statement if possible, a query is
 * a read-only transaction, and all others are combined in one that writes.
 *
 * <p>A failure before the commit has no effect. If the commit itself fails, the effect is unknown.
 */
final class SqliteLane implements Batcher.Trip {

    /** Work other than a command. */
    @FunctionalInterface
    interface Work {
        void carryOut(Ledger ledger) throws SQLException;
    }

    /**
     * How long a command on the thread of a caller waits for a busy database: usually long enough, and too short to
     * matter to the caller.
     */
    private static final Duration CALLER_TIMEOUT = Duration.ofMillis(50);

    /**
     * Held while the connection is in use. The batcher's round trips are sequential anyway; this excludes housekeeping.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private final Dialect dialect;
    private final Consumer<List<LedgerTransaction.Notification>> notifier;
    private final Ledger ledger;
    private final LedgerExecutor executor;

    @GuardedBy("lock")
    private final WriterYield writerYield = new WriterYield();

    @GuardedBy("lock")
    private boolean closed;

    /** @param notifier receives the notifications after each commit, with no lock held */
    SqliteLane(Dialect dialect, Consumer<List<LedgerTransaction.Notification>> notifier) {
        this.dialect = dialect;
        this.notifier = notifier;
        this.ledger = new Ledger(dialect);
        this.executor = new LedgerExecutor(ledger, dialect);
    }

    @Override
    public void make(int lane, List<Batcher.Call> calls) {
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        lock.lock();
        try {
            carryOut(calls, () -> inOrder(calls, notifications));
        } finally {
            lock.unlock();
            deliver(notifications);
        }
    }

    /** Does not wait for housekeeping, and only briefly for other processes. */
    @Override
    public boolean makeAtOnce(int lane, Batcher.Call call) {
        if (!lock.tryLock()) {
            return false;
        }
        List<LedgerTransaction.Notification> notifications = new ArrayList<>(0);
        BusyTimeout busyTimeout = new BusyTimeout(CALLER_TIMEOUT);
        try {
            carryOut(List.of(call), () -> executeAlone(call, notifications, busyTimeout));
        } catch (StoreException e) {
            if (!busyTimeout.isSpent()) {
                call.fail(e);
            }
        } finally {
            lock.unlock();
            deliver(notifications);
        }
        return call.isAnswered();
    }

    @GuardedBy("lock")
    private void carryOut(List<Batcher.Call> calls, Runnable trip) {
        try {
            mustBeOpen();
            writerYield.begin();
            trip.run();
            writerYield.end();
        } catch (DatabaseReplacedException gone) {
            calls.forEach(call -> refuse(call, gone));
        }
    }

    /**
     * Answers a keep-alive with the end of the session, so that a holder learns of it before its deadline; fails other
     * commands.
     */
    private static void refuse(Batcher.Call call, DatabaseReplacedException gone) {
        if (call.command() instanceof Command.KeepAlive) {
            call.answer(new Reply.SessionEnded());
        } else {
            call.fail(gone.failure());
        }
    }

    /**
     * Does work other than a command, in one transaction that may write.
     *
     * @throws StoreException if it fails
     */
    void transact(Work work) {
        List<LedgerTransaction.Notification> notifications;
        lock.lock();
        try {
            mustBeOpen();
            notifications = write(work, new BusyTimeout(dialect.busyTimeout()));
        } catch (DatabaseReplacedException gone) {
            throw gone.failure();
        } finally {
            lock.unlock();
        }
        deliver(notifications);
    }

    private List<LedgerTransaction.Notification> write(Work work, BusyTimeout busyTimeout) {
        while (true) {
            try {
                write(work);
                return ledger.notifications();
            } catch (Busy busy) {
                pause(busyTimeout, busy);
            }
        }
    }

    /** Pauses, and then checks the file again, which may have been replaced meanwhile. */
    private void pause(BusyTimeout busyTimeout, Busy busy) {
        if (!busy.isFull()) {
            busyTimeout.pause(busy);
        } else if (!busyTimeout.mayMakeRoom() || !dialect.makeRoom()) {
            throw busy.failure();
        }
        try {
            dialect.check();
        } catch (DatabaseReplacedException gone) {
            busyTimeout.spend();
            throw gone.failure();
        }
    }

    private void deliver(List<LedgerTransaction.Notification> notifications) {
        if (!notifications.isEmpty()) {
            notifier.accept(notifications);
        }
    }

    /** Closes the connection once it is not in use. */
    void close() {
        lock.lock();
        try {
            if (!closed) {
                closed = true;
                dialect.close();
            }
        } finally {
            lock.unlock();
        }
    }

    @GuardedBy("lock")
    private void mustBeOpen() throws DatabaseReplacedException {
        if (closed) {
            throw new StoreException(
                    StoreException.Reason.CLOSED, Effect.NONE, "the store was closed by this client", null);
        }
        dialect.check();
    }

    /** Executes commands in order. A query needs no write lock and no writing transaction. */
    private void inOrder(List<Batcher.Call> calls, List<LedgerTransaction.Notification> notifications) {
        int from = 0;
        for (int i = 0; i < calls.size(); i++) {
            if (LedgerExecutor.isQuery(calls.get(i).command())) {
                executeTogether(calls.subList(from, i), notifications);
                executeAlone(calls.get(i), notifications);
                from = i + 1;
            }
        }
        executeTogether(calls.subList(from, calls.size()), notifications);
    }

    private void executeAlone(Batcher.Call call, List<LedgerTransaction.Notification> notifications) {
        try {
            executeAlone(call, notifications, new BusyTimeout(dialect.busyTimeout()));
        } catch (StoreException e) {
            call.fail(e);
        }
    }

    private void executeAlone(
            Batcher.Call call, List<LedgerTransaction.Notification> notifications, BusyTimeout busyTimeout) {
        while (!call.isAnswered()) {
            try {
                attempt(call, notifications);
            } catch (Busy busy) {
                pause(busyTimeout, busy);
            }
        }
    }

    private void attempt(Batcher.Call call, List<LedgerTransaction.Notification> notifications) throws Busy {
        Command command = call.command();
        call.answer(command instanceof Poll poll ? poll(poll, notifications) : reply(command, notifications));
    }

    private Reply reply(Command command, List<LedgerTransaction.Notification> notifications) throws Busy {
        Reply reply = LedgerExecutor.isQuery(command) ? query(command) : quick(command);
        if (reply == null) {
            Reply[] replies = new Reply[1];
            write(state -> replies[0] = step(command));
            notifications.addAll(ledger.notifications());
            reply = replies[0];
        }
        return reply;
    }

    /** Reads only the claims whose state may have changed. */
    private Reply poll(Poll poll, List<LedgerTransaction.Notification> notifications) throws Busy {
        Map<ClaimRef, Reply.Queued> quiet = requireNonNullElse(single(() -> dialect.quiet(poll.claims())), Map.of());
        List<ClaimRef> others = poll.claims().stream()
                .filter(claim -> !quiet.containsKey(claim))
                .toList();
        Iterator<Reply.ClaimReply> states = Collections.emptyIterator();
        if (!others.isEmpty()) {
            Reply reply = reply(new Poll(others), notifications);
            if (!(reply instanceof Reply.Polled polled)) {
                return reply;
            }
            states = polled.states().iterator();
        }
        List<Reply.ClaimReply> all = new ArrayList<>(poll.claims().size());
        for (ClaimRef claim : poll.claims()) {
            Reply.Queued waits = quiet.get(claim);
            all.add(waits == null ? states.next() : waits);
        }
        return new Reply.Polled(all);
    }

    private void executeTogether(List<Batcher.Call> calls, List<LedgerTransaction.Notification> notifications) {
        if (calls.size() <= 1) {
            calls.forEach(call -> executeAlone(call, notifications));
            return;
        }
        BusyTimeout busyTimeout = new BusyTimeout(dialect.busyTimeout());
        Reply[] replies = new Reply[calls.size()];
        try {
            notifications.addAll(write(
                    state -> {
                        for (int i = 0; i < replies.length; i++) {
                            replies[i] = quickOrStep(calls.get(i).command());
                        }
                    },
                    busyTimeout));
        } catch (StoreException e) {
            if (e.effect() == Effect.NONE && !busyTimeout.isSpent()) {
                // One of them is at fault; the others should not fail for it.
                calls.forEach(call -> executeAlone(call, notifications));
            } else {
                calls.forEach(call -> call.fail(e));
            }
            return;
        }
        for (int i = 0; i < replies.length; i++) {
            calls.get(i).answer(replies[i]);
        }
    }

    private Reply quickOrStep(Command command) throws SQLException {
        Reply reply = dialect.quick(command);
        return reply == null ? step(command) : reply;
    }

    private Reply step(Command command) throws SQLException {
        return executor.answer(command);
    }

    /** Work that uses single statements. */
    @FunctionalInterface
    private interface Single<R> {
        @Nullable
        R run() throws SQLException;
    }

    private @Nullable Reply quick(Command command) throws Busy {
        return single(() -> dialect.quick(command));
    }

    private <R> @Nullable R single(Single<R> work) throws Busy {
        try {
            return work.run();
        } catch (SQLException e) {
            throw failed(e, dialect.effectOf(e));
        } catch (RuntimeException | Error e) {
            abandon();
            throw e;
        }
    }

    /** Rolls back after an unexpected error, and closes the prepared statements, which may be in any state. */
    private void abandon() {
        dialect.rollback();
        dialect.statements().forget();
    }

    /** Answers from one snapshot of the database; null if there is something to write. */
    private @Nullable Reply query(Command command) throws Busy {
        Reply[] replies = new Reply[1];
        try {
            attempt(false, state -> replies[0] = step(command));
            return replies[0];
        } catch (LedgerTransaction.Due due) {
            return null;
        }
    }

    private void write(Work work) throws Busy {
        attempt(true, work);
    }

    private void attempt(boolean writing, Work work) throws Busy {
        Effect effect = Effect.NONE;
        try {
            dialect.begin(writing);
            ledger.begin(writing);
            work.carryOut(ledger);
            effect = writing ? Effect.UNKNOWN : Effect.NONE;
            dialect.commit();
        } catch (SQLException e) {
            dialect.rollback();
            throw failed(e, effect);
        } catch (StoreException | LedgerTransaction.Due e) {
            dialect.rollback();
            throw e;
        } catch (RuntimeException | Error e) {
            abandon();
            throw e;
        }
    }

    /** The failure to throw; a busy database has had no effect, even on a commit. */
    private StoreException failed(SQLException e, Effect effect) throws Busy {
        if (dialect.isBusy(e)) {
            throw new Busy(dialect.translated(e, Effect.NONE), false);
        }
        dialect.statements().forget();
        if (dialect.isFull(e)) {
            throw new Busy(dialect.translated(e, effect), true);
        }
        return dialect.translated(e, effect);
    }

    /** The database was busy or full; the attempt was rolled back. */
    static final class Busy extends Exception {
        private static final long serialVersionUID = 1L;
        private final StoreException failure;
        private final boolean isFull;

        Busy(StoreException failure, boolean isFull) {
            super(null, failure, false, false);
            this.failure = failure;
            this.isFull = isFull;
        }

        /** Whether it has no space. Waiting does not help then, but making room may. */
        boolean isFull() {
            return isFull;
        }

        /** The failure to report if there is no retry. */
        StoreException failure() {
            return failure;
        }
    }
}
