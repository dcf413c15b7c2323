package dev.holdfast.store.sql;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.Batcher;
import dev.holdfast.spi.Batcher.Call;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.OnClaim;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * How commands become transactions on a database server: what came together goes together, the {@linkplain ShortWay short way} what can, and the rest by {@link LockTransactions}.
 *
 * <p><b>Thread-safety:</b> trips, and work that is no command, go one after another.
 */
final class ServerLane implements Batcher.Trip {

    /** Commands of one transaction that goes the long way: bounds the time for which it keeps its locks. */
    private static final int MOST_TOGETHER = 64;

    /** How many locked rows are known at the most, and how many that are waited for. */
    private static final int MOST_KNOWN = 1_000;

    private final Product product;
    private final Consumer<List<Transaction.Told>> telling;
    private final LockTransactions transactions;
    private final SessionEndings endings;
    private final Steps steps;
    private final ServerFastPath fastPath;

    /** Names whose rows were found locked for long by somebody else. */
    @GuardedBy("this")
    private final Set<ResourceName> locked = new HashSet<>();

    /** What was waited for when it was last looked at: that it is free would be tried in vain. */
    @GuardedBy("this")
    private final Map<ResourceName, ResourceSpec> awaited = new HashMap<>();

    /** @param telling is given what this client is to be told when a transaction is committed, with no lock held */
    ServerLane(
            Product product,
            Texts texts,
            ServerConnections connections,
            long client,
            Consumer<List<Transaction.Told>> telling) {
        this.product = product;
        this.telling = telling;
        this.transactions = new LockTransactions(product, texts, connections, client);
        this.endings = new SessionEndings(transactions);
        this.steps = new Steps(transactions.ledger(), transactions.backing());
        this.fastPath = product.fastPath(texts, connections.areLent(), client);
    }

    @Override
    public synchronized void make(int lane, List<Call> calls) {
        List<Transaction.Told> told = new ArrayList<>(0);
        try {
            List<Call> batch = new ArrayList<>();
            for (Call call : calls) {
                if (call.command() instanceof CloseSession close) {
                    close(call, Session.numberOf(close.session()), told);
                } else {
                    batch.add(call);
                }
            }
            List<Call> free = withoutLocked(batch, told);
            List<Call> left =
                    free.isEmpty() ? free : new ShortWay(product, transactions, fastPath, free, awaited, told).go();
            for (int from = 0; from < left.size(); from += MOST_TOGETHER) {
                together(left.subList(from, Math.min(left.size(), from + MOST_TOGETHER)), told);
            }
        } finally {
            tell(told);
        }
    }

    /**
     * Carries out work that is no command, as one transaction that has locked these names.
     *
     * @throws StoreException if that fails
     */
    void transact(Set<ResourceName> names, LockTransactions.Work work) {
        List<Transaction.Told> told = new ArrayList<>(0);
        LockTransactions.Task task = new LockTransactions.Task(work);
        task.names.addAll(names);
        synchronized (this) {
            transactions.carryOut(task, told);
        }
        tell(told);
    }

    private void tell(List<Transaction.Told> told) {
        if (!told.isEmpty()) {
            telling.accept(told);
        }
    }

    @GuardedBy("this")
    private void together(List<Call> calls, List<Transaction.Told> told) {
        Reply[] replies = new Reply[calls.size()];
        try {
            LockTransactions.Task task = new LockTransactions.Task(
                    state -> {
                        for (int i = 0; i < replies.length; i++) {
                            replies[i] = steps.answer(calls.get(i).command());
                        }
                    },
                    // Who waits asks again, and finds that it does not wait any more.
                    () -> Arrays.stream(replies).allMatch(Reply.Queued.class::isInstance)
                            // A Yield has given something back, also where nobody could be let in for it.
                            && calls.stream().noneMatch(call -> call.command() instanceof Yield));
            calls.forEach(call -> about(call.command(), task));
            transactions.carryOutUnlessLocked(task, told);
        } catch (LockedRows e) {
            List<Call> free = refuse(calls, e, told);
            if (!free.isEmpty()) {
                together(free, told);
            }
            return;
        } catch (StoreException e) {
            if (calls.size() > 1 && e.effect() == Effect.NONE && e.reason() == StoreException.Reason.CORRUPT) {
                // One of them is to blame, and the others shall not suffer for it.
                calls.forEach(call -> together(List.of(call), told));
            } else {
                calls.forEach(call -> call.fail(e));
            }
            return;
        }
        noteAwaited(calls);
        for (int i = 0; i < replies.length; i++) {
            calls.get(i).answer(replies[i]);
        }
    }

    @GuardedBy("this")
    private void noteAwaited(List<Call> calls) {
        if (awaited.size() > MOST_KNOWN) {
            awaited.clear();
        }
        for (Call call : calls) {
            if (call.command() instanceof OnResource about) {
                Optional<ResourceSpec> spec = transactions.ledger().resources().awaited(about.resource());
                spec.ifPresentOrElse(is -> awaited.put(about.resource(), is), () -> awaited.remove(about.resource()));
            }
        }
    }

    /** Tells whether it could be answered. */
    @GuardedBy("this")
    private boolean pollAround(Call call, Poll poll, Set<ResourceName> names, List<Transaction.Told> told) {
        PollAround around = new PollAround(poll, names);
        try {
            transactions.carryOut(around.task(steps), told);
        } catch (StoreException e) {
            return false;
        }
        if (around.isComplete()) {
            call.answer(around.reply());
        }
        return around.isComplete();
    }

    /** Refuses what is about rows that somebody keeps locked, or all if that can't be told apart; gives the others. */
    @GuardedBy("this")
    private List<Call> refuse(List<Call> calls, LockedRows why, List<Transaction.Told> told) {
        List<Call> others = calls.stream()
                .filter(call -> Collections.disjoint(namesOf(call.command()), why.names()))
                .toList();
        boolean isTold = others.size() < calls.size();
        for (Call call : calls) {
            boolean isAffected = !isTold || !others.contains(call);
            if (isAffected
                    && !(isTold && call.command() instanceof Poll poll && pollAround(call, poll, why.names(), told))) {
                call.fail(why.failure());
            }
        }
        if (locked.size() > MOST_KNOWN) {
            locked.clear();
        }
        locked.addAll(why.names());
        return isTold ? others : List.of();
    }

    /** Nobody waits a second time for a row that was found locked for long: what is about it is refused until it is free. */
    @GuardedBy("this")
    private List<Call> withoutLocked(List<Call> calls, List<Transaction.Told> told) {
        if (locked.isEmpty()) {
            return calls;
        }
        Set<ResourceName> asked = new TreeSet<>();
        calls.forEach(call -> asked.addAll(namesOf(call.command())));
        asked.retainAll(locked);
        if (asked.isEmpty()) {
            return calls;
        }
        try {
            Set<ResourceName> still = transactions.locked(asked);
            locked.removeAll(asked);
            return still.isEmpty() ? calls : refuse(calls, new LockedRows(still, null), told);
        } catch (StoreException e) {
            calls.forEach(call -> call.fail(e));
            return List.of();
        }
    }

    private static Set<ResourceName> namesOf(Command command) {
        LockTransactions.Task task = new LockTransactions.Task(state -> {});
        about(command, task);
        return task.names;
    }

    /** What a command is about, as far as it says so. */
    private static void about(Command command, LockTransactions.Task task) {
        if (command instanceof OnResource onResource) {
            task.names.add(onResource.resource());
            if (command instanceof Acquire || command instanceof Yield || command instanceof SetCount) {
                task.needed.add(onResource.resource());
            }
        } else if (command instanceof Poll poll) {
            poll.claims().forEach(claim -> task.names.add(claim.resource()));
        }
        if (command instanceof SetCount set) {
            task.sessions.add(Session.numberOf(set.session()));
        } else if (command instanceof Resize resize) {
            task.sessions.add(Session.numberOf(resize.session()));
        } else if (command instanceof OnClaim onClaim && (command instanceof Acquire || command instanceof Yield)) {
            task.sessions.add(Session.numberOf(onClaim.claim().session()));
        }
    }

    private void close(Call call, long id, List<Transaction.Told> told) {
        try {
            endings.end(id, told);
            call.answer(new Reply.Done());
        } catch (StoreException e) {
            call.fail(e);
        }
    }

    /** Ends a session with all that it holds and waits for: itself at once, so that nothing new comes to it, and then what it has, part by part. */
    void end(long id) {
        List<Transaction.Told> told = new ArrayList<>(0);
        try {
            synchronized (this) {
                endings.end(id, told);
            }
        } finally {
            tell(told);
        }
    }
}
