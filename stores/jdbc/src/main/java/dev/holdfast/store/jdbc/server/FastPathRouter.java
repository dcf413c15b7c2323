package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Selects the commands of a batch that the fast path can execute: releases first, because other commands may want what
 * they free. One object serves one round trip.
 */
final class FastPathRouter {

    private final Product product;
    private final LockTransactions transactions;
    private final ServerFastPath fastPath;
    private final List<Call> calls;
    private final @Nullable Call tried;
    private final Map<ResourceName, ResourceSpec> awaited;
    private final KnownRows known;
    private final List<LedgerTransaction.Notification> notifications;

    /** Names whose rows stayed locked for as long as a statement may wait. */
    private Set<ResourceName> locked = Set.of();

    /**
     * Creates the router of a batch.
     *
     * @param tried the command that the fast path has just tried without success; null if none
     * @param awaited resources that probably have waiters; updated
     * @param known guesses about existing rows; updated
     * @param notifications collects the notifications for this client
     */
    FastPathRouter(
            Product product,
            LockTransactions transactions,
            ServerFastPath fastPath,
            List<Call> calls,
            @Nullable Call tried,
            Map<ResourceName, ResourceSpec> awaited,
            KnownRows known,
            List<LedgerTransaction.Notification> notifications) {
        this.product = product;
        this.transactions = transactions;
        this.fastPath = fastPath;
        this.calls = calls;
        this.tried = tried;
        this.awaited = awaited;
        this.known = known;
        this.notifications = notifications;
    }

    /** Returns the commands that are left, in their order. */
    List<Call> route() {
        if (calls.size() > 1) {
            routeBatch();
            return calls.stream().filter(call -> !call.isAnswered()).toList();
        }
        Call call = calls.get(0);
        if (call != tried) {
            routeSingle(call);
        }
        return call.isAnswered() ? List.of() : calls;
    }

    /** Names whose rows were found locked: commands about them should not wait again. */
    Set<ResourceName> locked() {
        return locked;
    }

    /** As {@link #routeBatch}, for a single command. */
    private void routeSingle(Call call) {
        Command command = call.command();
        Single inQueue = inQueue(command);
        if (inQueue != null) {
            wasBlocked(call, true, inQueue);
        } else if (!(command instanceof OnResource about) || awaited.containsKey(about.resource())) {
            return;
        } else if (command instanceof Release release && !release.isAnnotated()) {
            attempt(call, statements -> fastPath.release(statements, release));
        } else if (command instanceof Acquire acquire && ServerFastPath.isPlain(acquire)) {
            take(call, acquire);
        }
    }

    private void take(Call call, Acquire acquire) {
        boolean isNewExpected = known.areNewExpected();
        boolean wasMade = isNewExpected && isTakenUnused(call, acquire);
        if (isOpen(call)) {
            attempt(call, statements -> fastPath.take(statements, acquire));
        }
        if (!isNewExpected && isOpen(call)) {
            wasMade = isTakenUnused(call, acquire);
        }
        known.came(wasMade);
    }

    /** Whether another statement is worthwhile. */
    private boolean isOpen(Call call) {
        return !call.isAnswered() && locked.isEmpty();
    }

    private boolean isTakenUnused(Call call, Acquire acquire) {
        if (!known.mayBeNew(acquire.resource())) {
            return false;
        }
        boolean isOne = fastPath.isOneStatementIfUnused(List.of(acquire));
        wasBlocked(call, isOne, statements -> fastPath.takeUnused(statements, acquire));
        return call.isAnswered();
    }

    private void attempt(Call call, Single single) {
        if (wasBlocked(call, true, single)) {
            carriesOut(call, true, single);
        }
    }

    /**
     * Executes a command, unless its row stays locked for as long as a statement waits.
     *
     * @return whether the row was locked, and no longer is
     */
    @CanIgnoreReturnValue
    private boolean wasBlocked(Call call, boolean isOne, Single single) {
        return !carriesOut(call, isOne, single)
                && fastPath.waitsForRows()
                && noteLocked(Set.of(nameOf(call))).isEmpty();
    }

    private void routeBatch() {
        List<Call> releases = new ArrayList<>();
        List<Call> acquires = new ArrayList<>();
        // Names with a command that needs a transaction, or is on the fast path already: later ones stay behind it.
        Set<ResourceName> closed = new HashSet<>();
        Set<ResourceName> releasing = new HashSet<>();
        for (Call call : calls) {
            if (call.command() instanceof OnResource about
                    && (call == tried || awaited.containsKey(about.resource()))) {
                closed.add(about.resource());
            } else if (call.command() instanceof Release release
                    && !release.isAnnotated()
                    && closed.add(release.resource())) {
                releases.add(call);
                releasing.add(release.resource());
            } else if (call.command() instanceof Acquire acquire
                    && ServerFastPath.isPlain(acquire)
                    && (closed.add(acquire.resource()) || releasing.remove(acquire.resource()))) {
                acquires.add(call);
            } else if (call.command() instanceof OnResource onResource) {
                closed.add(onResource.resource());
                releasing.remove(onResource.resource());
            }
        }
        // Acquires that also inserted the row.
        Set<Call> made = new HashSet<>();
        boolean areNew = known.areNewExpected();
        if (areNew) {
            takeUnused(acquires, made);
        }
        List<Call> left = new ArrayList<>(acquires);
        left.removeIf(call -> call.isAnswered() || locked.contains(nameOf(call)));
        if (!releases.isEmpty() || !left.isEmpty()) {
            attempt(releases, left, true);
        }
        if (!areNew) {
            takeUnused(acquires, made);
        }
        if (!acquires.isEmpty()) {
            known.came(acquires.stream().allMatch(made::contains));
        }
    }

    /** Acquires locks that may never have been used, for which the statement before would find no row. */
    private void takeUnused(List<Call> acquires, Set<Call> made) {
        List<Call> unused = acquires.stream()
                .filter(call -> !call.isAnswered() && known.mayBeNew(nameOf(call)) && !locked.contains(nameOf(call)))
                .toList();
        List<Acquire> wanted = commands(unused, Acquire.class);
        if (unused.isEmpty()) {
            return;
        }
        boolean isDone = carriesOut(
                List.of(),
                unused,
                fastPath.isOneStatementIfUnused(wanted),
                statements -> fastPath.takeUnused(statements, wanted));
        if (isDone) {
            unused.stream().filter(Call::isAnswered).forEach(made::add);
        } else if (fastPath.waitsForRows()) {
            noteLocked(unused.stream().map(FastPathRouter::nameOf).collect(Collectors.toSet()));
        }
    }

    /** Executes one command with one statement; null if it cannot, with nothing changed. */
    @FunctionalInterface
    private interface Single {
        @Nullable
        Reply tryIt(StatementCache statements) throws SQLException;
    }

    /** Returns whether no locked row blocked it. */
    @CanIgnoreReturnValue
    private boolean carriesOut(Call call, boolean isOne, Single single) {
        return carriesOut(
                List.of(call), List.of(), isOne, statements -> Collections.singletonList(single.tryIt(statements)));
    }

    /** Returns which of these rows are locked at this moment, and records them if a statement has waited for them. */
    @CanIgnoreReturnValue
    private Set<ResourceName> noteLocked(Set<ResourceName> names) {
        Set<ResourceName> found = transactions.locked(names);
        if (fastPath.waitsForRows() && !found.isEmpty()) {
            locked = new TreeSet<>(locked);
            locked.addAll(found);
        }
        return found;
    }

    /**
     * A statement for a command that is alone in its batch and concerns the queue of a lock with waiters; null for all
     * others. Several commands had better share a transaction and its commit.
     */
    private @Nullable Single inQueue(Command command) {
        if (command instanceof Yield yield
                && !yield.isAnnotated()
                && isHandedOver(yield.next().spec())) {
            return statements -> handOver(statements, yield.claim(), yield.next());
        } else if (command instanceof Release release
                && !release.isAnnotated()
                && isHandedOver(awaited.get(release.resource()))) {
            return statements -> handOver(statements, release.claim(), null);
        } else if (command instanceof Acquire acquire
                && acquire.waiting() == Command.Waiting.QUEUE
                && awaited.containsKey(acquire.resource())
                && isHandedOver(acquire.spec())) {
            return statements -> fastPath.queue(statements, acquire);
        }
        return null;
    }

    /** Whether the resource has one owner at a time. */
    private static boolean isHandedOver(@Nullable ResourceSpec spec) {
        return spec != null && spec.capacity() == 1 && spec.kind() != Kind.LATCH;
    }

    private @Nullable Reply handOver(StatementCache statements, ClaimRef grant, @Nullable Acquire next)
            throws SQLException {
        ServerFastPath.HandedOver done = fastPath.handOver(statements, grant, next);
        if (done == null) {
            return null;
        }
        done.notification().ifPresent(notifications::add);
        if (!done.isAwaited()) {
            awaited.remove(grant.resource());
        } else if (next != null) {
            awaited.put(grant.resource(), next.spec());
        }
        return done.reply();
    }

    private void attempt(List<Call> releases, List<Call> acquires, boolean isFirst) {
        List<Release> given = commands(releases, Release.class);
        List<Acquire> wanted = commands(acquires, Acquire.class);
        boolean isDone = carriesOut(
                releases,
                acquires,
                fastPath.isOneStatement(given, wanted),
                statements -> fastPath.carryOut(statements, given, wanted));
        if (!isDone && isFirst) {
            withoutLocked(releases, acquires);
        }
    }

    /** Executes commands of a kind together. */
    @FunctionalInterface
    private interface Several {
        List<@Nullable Reply> carryOut(StatementCache statements) throws SQLException;
    }

    /** Returns whether no locked row blocked it. */
    private boolean carriesOut(List<Call> releases, List<Call> acquires, boolean isOne, Several several) {
        Effect effect = Effect.NONE;
        try {
            StatementCache statements = transactions.attach();
            if (isOne) {
                effect = Effect.UNKNOWN;
            } else {
                transactions.begin();
            }
            List<@Nullable Reply> replies = several.carryOut(statements);
            if (!isOne) {
                effect = Effect.UNKNOWN;
                transactions.commit();
            }
            answer(releases, replies.subList(0, releases.size()));
            answer(acquires, replies.subList(releases.size(), replies.size()));
            return true;
        } catch (SQLException e) {
            failed(e, effect, releases, acquires);
            return !product.isBlocked(e);
        } catch (RuntimeException | Error e) {
            transactions.abandon();
            throw e;
        } finally {
            transactions.rest();
        }
    }

    /** Retries without the commands whose rows are locked, so that these do not delay the others. */
    private void withoutLocked(List<Call> releases, List<Call> acquires) {
        if (!fastPath.waitsForRows() && releases.size() + acquires.size() == 1) {
            return;
        }
        Set<ResourceName> names = new TreeSet<>();
        releases.forEach(call -> names.add(nameOf(call)));
        acquires.forEach(call -> names.add(nameOf(call)));
        Set<ResourceName> found = noteLocked(names);
        releases.removeIf(call -> found.contains(nameOf(call)));
        acquires.removeIf(call -> found.contains(nameOf(call)));
        if (!releases.isEmpty() || !acquires.isEmpty()) {
            attempt(releases, acquires, false);
        }
    }

    private static ResourceName nameOf(Call call) {
        return ((OnResource) call.command()).resource();
    }

    /** Fails the commands if their effect is unknown. If they certainly had none, a transaction executes them again. */
    private void failed(SQLException e, Effect effect, List<Call> calls, List<Call> more) {
        transactions.undo(e);
        if (effect == Effect.UNKNOWN && !product.isBusy(e) && !product.isReadOnly(e)) {
            StoreException unknown = product.translated(e, Effect.UNKNOWN);
            calls.forEach(call -> call.fail(unknown));
            more.forEach(call -> call.fail(unknown));
        }
    }

    private static <T extends Command> List<T> commands(List<Call> calls, Class<T> type) {
        return calls.stream().map(Call::command).map(type::cast).toList();
    }

    private static void answer(List<Call> calls, List<? extends @Nullable Reply> replies) {
        for (int i = 0; i < calls.size(); i++) {
            Reply reply = replies.get(i);
            if (reply != null) {
                calls.get(i).answer(reply);
            }
        }
    }
}
