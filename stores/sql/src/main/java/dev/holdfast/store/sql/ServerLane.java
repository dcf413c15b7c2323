package dev.holdfast.store.sql;

import dev.holdfast.spi.Batcher;
import dev.holdfast.spi.Batcher.Call;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.OnClaim;
import dev.holdfast.spi.Command.OnResource;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Resize;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.Command.Yield;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How commands become transactions on a database server: what came together goes together. A transaction first locks the resources that it is about, in the order of their names, then the
 * sessions that ask for something, and reads all else after that; so whatever it decides on stays as it is until the commit.
 *
 * <p>A failure before the commit leaves nothing behind. If the commit itself fails nobody can say what came of it, and the effect is unknown.
 */
final class ServerLane implements Batcher.Trip {

    /** Commands of one transaction: bounds the time for which it keeps its locks. */
    private static final int MOST_TOGETHER = 64;

    /** So often others may be in the way, or more may turn out to be needed, before a trip gives up. */
    private static final int MOST_TRIES = 100;

    /** Work that is no command. */
    @FunctionalInterface
    interface Work {
        void carryOut(Ledger ledger) throws SQLException;
    }

    /** Commands, or other work, with the names and sessions that they are known to be about. */
    private static final class Task {
        final Set<ResourceName> names = new TreeSet<>();
        final Set<ResourceName> needed = new HashSet<>();
        final Set<Long> sessions = new TreeSet<>();
        final Work work;

        Task(Work work) {
            this.work = work;
        }
    }

    private final Product product;
    private final ServerConnections connections;
    private final Consumer<List<Transaction.Told>> telling;
    private final long client;
    private final Statements statements;
    private final ServerBacking backing;
    private final Ledger ledger;
    private final Steps steps;
    private final ServerFastPath fastPath;
    private final String clock;
    private final String session;

    /** Whether a transaction is under way. */
    private boolean begun;

    /** @param telling is given what this client is to be told when a transaction is committed, with no lock held */
    ServerLane(
            Product product,
            Texts texts,
            ServerConnections connections,
            long client,
            Consumer<List<Transaction.Told>> telling) {
        this.product = product;
        this.connections = connections;
        this.telling = telling;
        this.client = client;
        this.statements = new Statements(texts);
        this.backing = new ServerBacking(product, statements, client);
        this.ledger = new Ledger(backing);
        this.steps = new Steps(ledger, backing);
        this.fastPath = product.fastPath(texts);
        this.clock = texts.of("SELECT " + product.clock());
        this.session = texts.of(product.sharingSession());
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
            for (int from = 0; from < batch.size(); from += MOST_TOGETHER) {
                List<Call> part = batch.subList(from, Math.min(batch.size(), from + MOST_TOGETHER));
                List<Call> left = new ShortWay(part).go();
                if (!left.isEmpty()) {
                    together(left, told);
                }
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
    void transact(Set<ResourceName> names, Work work) {
        List<Transaction.Told> told = new ArrayList<>(0);
        Task task = new Task(work);
        task.names.addAll(names);
        synchronized (this) {
            carryOut(task, told);
        }
        tell(told);
    }

    private void tell(List<Transaction.Told> told) {
        if (!told.isEmpty()) {
            telling.accept(told);
        }
    }

    /** What can be done by the fast path, of commands that came together: what is given back first, for others may want to take it. */
    private final class ShortWay {
        private final List<Call> calls;

        /** Names of which a command goes the long way, or already goes this one: what comes later stays behind it. */
        private final Set<ResourceName> closed = new HashSet<>();

        ShortWay(List<Call> calls) {
            this.calls = calls;
        }

        /** Gives what is left to do, in the order in which it came. */
        List<Call> go() {
            List<Call> releases = new ArrayList<>();
            List<Call> acquires = new ArrayList<>();
            Set<ResourceName> releasing = new HashSet<>();
            for (Call call : calls) {
                if (call.command() instanceof Release release && closed.add(release.resource())) {
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
            if (!releases.isEmpty() || !acquires.isEmpty()) {
                attempt(releases, acquires);
            }
            return calls.stream().filter(call -> !call.isAnswered()).toList();
        }

        private void attempt(List<Call> releases, List<Call> acquires) {
            boolean isBoth = !releases.isEmpty() && !acquires.isEmpty();
            Effect effect = Effect.NONE;
            try {
                statements.attach(connections.get(ServerConnections.Use.LOCKS));
                if (isBoth) {
                    product.begin(statements);
                    begun = true;
                } else {
                    effect = Effect.UNKNOWN;
                }
                List<Reply.@Nullable Released> released = releases.isEmpty()
                        ? List.of()
                        : fastPath.giveBack(statements, commands(releases, Release.class));
                Set<ResourceName> kept = new HashSet<>();
                for (int i = 0; i < released.size(); i++) {
                    if (released.get(i) == null) {
                        kept.add(((Release) releases.get(i).command()).resource());
                    }
                }
                acquires.removeIf(call -> kept.contains(((Acquire) call.command()).resource()));
                List<Reply.@Nullable Granted> granted =
                        acquires.isEmpty() ? List.of() : fastPath.take(statements, commands(acquires, Acquire.class));
                if (isBoth) {
                    effect = Effect.UNKNOWN;
                    product.commit(statements);
                    begun = false;
                }
                answer(releases, released);
                answer(acquires, granted);
            } catch (SQLException e) {
                failed(e, effect, releases, acquires);
            } finally {
                connections.rest(ServerConnections.Use.LOCKS, statements);
            }
        }

        /** What certainly had no effect is tried again the long way. */
        private void failed(SQLException e, Effect effect, List<Call> releases, List<Call> acquires) {
            undo();
            boolean isLost = product.isConnectionLost(e);
            if (isLost) {
                statements.forget();
                connections.drop(ServerConnections.Use.LOCKS);
            }
            if (effect == Effect.UNKNOWN && !product.isBusy(e)) {
                StoreException told = product.translated(e, Effect.UNKNOWN);
                releases.forEach(call -> call.fail(told));
                acquires.forEach(call -> call.fail(told));
            }
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

    private void together(List<Call> calls, List<Transaction.Told> told) {
        Reply[] replies = new Reply[calls.size()];
        try {
            Task task = new Task(state -> {
                for (int i = 0; i < replies.length; i++) {
                    replies[i] = steps.answer(calls.get(i).command());
                }
            });
            calls.forEach(call -> about(call.command(), task));
            carryOut(task, told);
        } catch (StoreException e) {
            if (calls.size() > 1 && e.effect() == Effect.NONE && e.reason() == StoreException.Reason.CORRUPT) {
                // One of them is to blame, and the others shall not suffer for it.
                calls.forEach(call -> together(List.of(call), told));
            } else {
                calls.forEach(call -> call.fail(e));
            }
            return;
        }
        for (int i = 0; i < replies.length; i++) {
            calls.get(i).answer(replies[i]);
        }
    }

    /** What a command is about, as far as it says so. */
    private static void about(Command command, Task task) {
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
            end(id, told);
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
                end(id, told);
            }
        } finally {
            tell(told);
        }
    }

    private void end(long id, List<Transaction.Told> told) {
        carryOut(new Task(state -> state.rows().end(id)), told);
        List<ResourceName> contended = new ArrayList<>();
        carryOut(new Task(state -> contended.addAll(state.rows().contended(id))), told);
        for (int from = 0; from < contended.size(); from += MOST_TOGETHER) {
            List<ResourceName> part = contended.subList(from, Math.min(contended.size(), from + MOST_TOGETHER));
            visit(part, List.of(), told);
        }
        List<ClaimRows.Place> page = new ArrayList<>();
        long number = 0;
        byte[] key = ClaimRows.NO_KEY;
        do {
            page.clear();
            long after = number;
            byte[] afterKey = key;
            carryOut(
                    new Task(state -> page.addAll(state.claimRows().ofSession(id, after, afterKey, MOST_TOGETHER))),
                    told);
            if (!page.isEmpty()) {
                ClaimRows.Place last = page.get(page.size() - 1);
                number = last.claim().number;
                key = last.name().utf8();
                visit(
                        page.stream().map(ClaimRows.Place::name).toList(),
                        page.stream().map(place -> place.claim().ref()).toList(),
                        told);
            }
        } while (page.size() == MOST_TOGETHER);
        carryOut(new Task(state -> state.rows().forget(id)), told);
    }

    /** Looks at resources, and at claims on them, and so drops what is dead. */
    private void visit(List<ResourceName> names, List<ClaimRef> claims, List<Transaction.Told> told) {
        Task task = new Task(state -> {
            for (ResourceName name : names) {
                var unused = state.resource(name);
            }
            for (ClaimRef claim : claims) {
                var unused = state.claim(claim);
            }
            state.flush();
        });
        task.names.addAll(names);
        carryOut(task, told);
    }

    /** Carries a task out, again and again if others are in the way or it turns out to be about more. */
    private void carryOut(Task task, List<Transaction.Told> told) {
        for (int left = MOST_TRIES; ; left--) {
            Effect[] effect = {Effect.NONE};
            try {
                statements.attach(connections.get(ServerConnections.Use.LOCKS));
                List<ResourceName> missing = attempt(task, effect);
                if (missing.isEmpty()) {
                    told.addAll(ledger.told());
                    return;
                }
                product.add(statements, missing.stream().map(ResourceName::utf8).toList());
            } catch (NotLocked more) {
                task.names.addAll(more.names());
                undo();
            } catch (SQLException e) {
                undo();
                if (product.isConnectionLost(e)) {
                    statements.forget();
                    connections.drop(ServerConnections.Use.LOCKS);
                    if (effect[0] == Effect.UNKNOWN || left < MOST_TRIES) {
                        throw product.translated(e, effect[0]);
                    }
                } else if (!product.isBusy(e) || left == 0) {
                    throw product.translated(e, product.isBusy(e) ? Effect.NONE : effect[0]);
                }
            } catch (RuntimeException | Error e) {
                undo();
                throw e;
            } finally {
                connections.rest(ServerConnections.Use.LOCKS, statements);
            }
        }
    }

    /** Gives the names that need a row and have none; nothing was done then. */
    private List<ResourceName> attempt(Task task, Effect[] effect) throws SQLException {
        product.begin(statements);
        begun = true;
        TreeMap<ResourceName, Resource> resources = new TreeMap<>();
        if (!task.names.isEmpty()) {
            List<byte[]> keys = task.names.stream().map(ResourceName::utf8).toList();
            Rows.resources(product.locking(statements, keys)).forEach(found -> resources.put(found.name, found));
            List<ResourceName> missing = task.needed.stream()
                    .filter(name -> !resources.containsKey(name))
                    .sorted()
                    .toList();
            if (!missing.isEmpty()) {
                undo();
                return missing;
            }
        }
        List<Session> sessions = new ArrayList<>(task.sessions.size());
        long now = 0;
        for (long id : task.sessions) {
            PreparedStatement select = statements.prepare(session);
            select.setLong(1, id);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    sessions.add(Rows.session(id, row));
                    now = row.getLong(6);
                }
            }
        }
        backing.clock().set(now == 0 ? now() : now);
        ledger.begin(true);
        for (ResourceName name : task.names) {
            Resource found = resources.get(name);
            ledger.resources().give(found == null ? new Resource(name, name.utf8()) : found);
        }
        sessions.forEach(ledger.sessions()::give);
        task.work.carryOut(ledger);
        ledger.finish();
        List<Transaction.Told> others =
                ledger.told().stream().filter(one -> one.client() != client).toList();
        if (!others.isEmpty()) {
            product.tell(statements, others);
        }
        effect[0] = Effect.UNKNOWN;
        product.commit(statements);
        begun = false;
        return List.of();
    }

    private long now() throws SQLException {
        try (ResultSet row = statements.prepare(clock).executeQuery()) {
            if (!row.next()) {
                throw new SQLException("The database did not tell its time");
            }
            return row.getLong(1);
        }
    }

    private void undo() {
        if (!begun) {
            return;
        }
        begun = false;
        try {
            product.rollback(statements);
        } catch (SQLException e) {
            // What can't be undone in order is undone by the end of the connection.
            statements.forget();
            connections.drop(ServerConnections.Use.LOCKS);
        }
    }
}
