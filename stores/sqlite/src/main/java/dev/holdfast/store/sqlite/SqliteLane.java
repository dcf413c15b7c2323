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
    private static final Duration PATIENCE_OF_CALLERS = Duration.ofMillis(50);

    /**
     * Held while the connection is in use. The batcher's round trips are sequential anyway; this excludes housekeeping.
     */
    private final ReentrantLock lock = new ReentrantLock();

    private final Dialect dialect;
    private final Consumer<List<LedgerTransaction.Notification>> telling;
    private final Ledger ledger;
    private final LedgerExecutor steps;

    @GuardedBy("lock")
    private final WriterYield writerYield = new WriterYield();

    @GuardedBy("lock")
    private boolean closed;

    /** @param telling receives the notifications after each commit, with no lock held */
    SqliteLane(Dialect dialect, Consumer<List<LedgerTransaction.Notification>> telling) {
        this.dialect = dialect;
        this.telling = telling;
        this.ledger = new Ledger(dialect);
        this.steps = new LedgerExecutor(ledger, dialect);
    }

    @Override
    public void make(int lane, List<Batcher.Call> calls) {
        List<LedgerTransaction.Notification> told = new ArrayList<>(0);
        lock.lock();
        try {
            carryOut(calls, () -> inOrder(calls, told));
        } finally {
            lock.unlock();
            tell(told);
        }
    }

    /** Does not wait for housekeeping, and only briefly for other processes. */
    @Override
    public boolean makeAtOnce(int lane, Batcher.Call call) {
        if (!lock.tryLock()) {
            return false;
        }
        List<LedgerTransaction.Notification> told = new ArrayList<>(0);
        BusyTimeout patience = new BusyTimeout(PATIENCE_OF_CALLERS);
        try {
            carryOut(List.of(call), () -> alone(call, told, patience));
        } catch (StoreException e) {
            if (!patience.isSpent()) {
                call.fail(e);
            }
        } finally {
            lock.unlock();
            tell(told);
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
        List<LedgerTransaction.Notification> told;
        lock.lock();
        try {
            mustBeOpen();
            told = write(work, new BusyTimeout(dialect.patience()));
        } catch (DatabaseReplacedException gone) {
            throw gone.failure();
        } finally {
            lock.unlock();
        }
        tell(told);
    }

    private List<LedgerTransaction.Notification> write(Work work, BusyTimeout patience) {
        while (true) {
            try {
                write(work);
                return ledger.told();
            } catch (Busy busy) {
                pause(patience, busy);
            }
        }
    }

    /** Pauses, and then checks the file again, which may have been replaced meanwhile. */
    private void pause(BusyTimeout patience, Busy busy) {
        if (!busy.isFull()) {
            patience.pause(busy);
        } else if (!patience.mayMakeRoom() || !dialect.makeRoom()) {
            throw busy.failure();
        }
        try {
            dialect.check();
        } catch (DatabaseReplacedException gone) {
            patience.spend();
            throw gone.failure();
        }
    }

    private void tell(List<LedgerTransaction.Notification> told) {
        if (!told.isEmpty()) {
            telling.accept(told);
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
    private void inOrder(List<Batcher.Call> calls, List<LedgerTransaction.Notification> told) {
        int from = 0;
        for (int i = 0; i < calls.size(); i++) {
            if (LedgerExecutor.isLook(calls.get(i).command())) {
                together(calls.subList(from, i), told);
                alone(calls.get(i), told);
                from = i + 1;
            }
        }
        together(calls.subList(from, calls.size()), told);
    }

    private void alone(Batcher.Call call, List<LedgerTransaction.Notification> told) {
        try {
            alone(call, told, new BusyTimeout(dialect.patience()));
        } catch (StoreException e) {
            call.fail(e);
        }
    }

    private void alone(Batcher.Call call, List<LedgerTransaction.Notification> told, BusyTimeout patience) {
        while (!call.isAnswered()) {
            try {
                attempt(call, told);
            } catch (Busy busy) {
                pause(patience, busy);
            }
        }
    }

    private void attempt(Batcher.Call call, List<LedgerTransaction.Notification> told) throws Busy {
        Command command = call.command();
        call.answer(command instanceof Poll poll ? poll(poll, told) : reply(command, told));
    }

    private Reply reply(Command command, List<LedgerTransaction.Notification> told) throws Busy {
        Reply reply = LedgerExecutor.isLook(command) ? look(command) : quick(command);
        if (reply == null) {
            Reply[] replies = new Reply[1];
            write(state -> replies[0] = step(command));
            told.addAll(ledger.told());
            reply = replies[0];
        }
        return reply;
    }

    /** Reads only the claims whose state may have changed. */
    private Reply poll(Poll poll, List<LedgerTransaction.Notification> told) throws Busy {
        Map<ClaimRef, Reply.Queued> quiet = requireNonNullElse(single(() -> dialect.quiet(poll.claims())), Map.of());
        List<ClaimRef> others = poll.claims().stream()
                .filter(claim -> !quiet.containsKey(claim))
                .toList();
        Iterator<Reply.ClaimReply> states = Collections.emptyIterator();
        if (!others.isEmpty()) {
            Reply reply = reply(new Poll(others), told);
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

    private void together(List<Batcher.Call> calls, List<LedgerTransaction.Notification> told) {
        if (calls.size() <= 1) {
            calls.forEach(call -> alone(call, told));
            return;
        }
        BusyTimeout patience = new BusyTimeout(dialect.patience());
        Reply[] replies = new Reply[calls.size()];
        try {
            told.addAll(write(
                    state -> {
                        for (int i = 0; i < replies.length; i++) {
                            replies[i] = quickOrStep(calls.get(i).command());
                        }
                    },
                    patience));
        } catch (StoreException e) {
            if (e.effect() == Effect.NONE && !patience.isSpent()) {
                // One of them is at fault; the others should not fail for it.
                calls.forEach(call -> alone(call, told));
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
        return steps.answer(command);
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
    private @Nullable Reply look(Command command) throws Busy {
        try {
            dialect.begin(false);
            ledger.begin(false);
            Reply reply = step(command);
            dialect.commit();
            return reply;
        } catch (LedgerTransaction.Due due) {
            dialect.rollback();
            return null;
        } catch (SQLException e) {
            dialect.rollback();
            throw failed(e, Effect.NONE);
        } catch (StoreException e) {
            dialect.rollback();
            throw e;
        } catch (RuntimeException | Error e) {
            abandon();
            throw e;
        }
    }

    private void write(Work work) throws Busy {
        Effect effect = Effect.NONE;
        try {
            dialect.begin(true);
            ledger.begin(true);
            work.carryOut(ledger);
            effect = Effect.UNKNOWN;
            dialect.commit();
        } catch (SQLException e) {
            dialect.rollback();
            throw failed(e, effect);
        } catch (StoreException e) {
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
