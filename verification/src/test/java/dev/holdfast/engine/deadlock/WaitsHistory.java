package dev.holdfast.engine.deadlock;

import dev.holdfast.engine.deadlock.WaitLine.Blocking;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Clients that wait for each other, step by step, above the engine's search for deadlocks. It knows what is true after
 * each step, and so which reports are. The clients see only what they and the others have stated at the store.
 */
final class WaitsHistory {
    final List<Client> clients = new ArrayList<>();

    /** The reported cycles that existed, by the names of their members. */
    final List<List<String>> reports = new ArrayList<>();

    final List<List<String>> falseAlarms = new ArrayList<>();
    final boolean isLasting;
    private final DeadlockRules rules;
    private final int question;

    /** Who was blocked by whom after each step. A thread waits only once, so its name identifies the wait. */
    private final List<Set<List<String>>> moments = new ArrayList<>();

    private final Set<String> awaitedByWriters = new HashSet<>();
    private long ids;

    /**
     * Begins a history.
     *
     * @param question before which question to the store something else happens during a pass
     * @param isLasting whether nothing ends that belongs to the last cycle
     */
    WaitsHistory(DeadlockRules rules, int question, boolean isLasting) {
        this.rules = rules;
        this.question = question;
        this.isLasting = isLasting;
    }

    Client client(String name) {
        Client client = new Client(this, name);
        clients.add(client);
        return client;
    }

    /** A writer's claim waits; readers that wait later are behind it. */
    void writerAwaits(String name) {
        awaitedByWriters.add(name);
        changed();
    }

    void writerGivesUp(String name) {
        awaitedByWriters.remove(name);
        changed();
    }

    private void changed() {
        Set<List<String>> edges = new HashSet<>();
        for (Client waiter : clients) {
            for (Client holder : clients) {
                if (waiter.isBlockedBy(holder)) {
                    edges.add(List.of(waiter.name, holder.name));
                }
            }
        }
        moments.add(edges);
    }

    private void report(List<WaitNode> cycle) {
        List<String> names = new ArrayList<>();
        cycle.forEach(member -> names.add(member.line().thread()));
        List<List<String>> edges = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            edges.add(List.of(names.get(i), names.get((i + 1) % names.size())));
        }
        boolean hasExisted = moments.stream().anyMatch(moment -> moment.containsAll(edges));
        (hasExisted ? reports : falseAlarms).add(names);
    }

    private NameState inspect(String name, Client by) {
        List<NameState.Holder> holders = new ArrayList<>();
        List<NameState.Waiter> waiters = new ArrayList<>();
        if (awaitedByWriters.contains(name)) {
            waiters.add(new NameState.Waiter("writer", true));
        }
        for (Client client : clients) {
            if (client != by && client.holds.containsKey(name)) {
                Map<Object, String> lines = client.lines.getOrDefault(name, Map.of());
                holders.add(new NameState.Holder(client.owner(), List.copyOf(lines.values())));
            } else if (name.equals(client.awaits) && !(client.isReader && waiters.isEmpty())) {
                waiters.add(new NameState.Waiter(client.name, false));
            }
        }
        return new NameState(name, holders, waiters);
    }

    /** A client with one thread, which waits only once. What it stated of that wait stays if the wait ends. */
    static final class Client {
        private static final long TTL_NANOS = 30_000_000_000L;

        private final String name;
        private final WaitsHistory history;
        private final DeadlockDetector detector;

        /** What its thread holds, and whether to write. */
        private final Map<String, Boolean> holds = new TreeMap<>();

        /** The annotations of its grants at the store, by name. */
        private Map<Object, Map<Object, String>> lines = Map.of();

        private @Nullable String awaits;
        private boolean isReader;

        Client(WaitsHistory history, String name) {
            this.history = history;
            this.name = name;
            this.detector = new DeadlockDetector(history.rules, () -> ++history.ids, TTL_NANOS);
        }

        private OwnWait.Owner owner() {
            return new OwnWait.Owner(name, "session", "");
        }

        Client with(String lock, boolean isWrite) {
            holds.put(lock, isWrite);
            history.changed();
            return this;
        }

        void awaits(String lock) {
            awaits = lock;
            history.changed();
        }

        void awaitsToRead(String lock) {
            isReader = true;
            awaits(lock);
        }

        void givesUp() {
            awaits = null;
            history.changed();
        }

        /** The grant ends at the store, and its annotation with it. */
        void releases(String lock) {
            holds.remove(lock);
            lines = new HashMap<>(lines);
            lines.remove(lock);
            history.changed();
        }

        private boolean isBlockedBy(Client other) {
            Boolean isWrite = awaits == null ? null : other.holds.get(awaits);
            return isWrite != null && (isWrite || !isReader || history.awaitedByWriters.contains(awaits));
        }

        void pass() {
            run(() -> {}, 0);
        }

        /** Makes a pass during which something else happens. */
        void pass(Runnable meanwhile) {
            run(meanwhile, history.question);
        }

        private void run(Runnable meanwhile, int question) {
            if (awaits != null) {
                Pass pass = new Pass(history, this, awaits, meanwhile, question);
                SearchPass search = new SearchPass(pass, history.rules, detector);
                Findings found = search.run().join();
                found.deadlocks().forEach(history::report);
                lines = awaits == null ? lines : found.lines();
                pass.playMeanwhile();
            }
        }
    }

    /** What one pass reads. */
    private static final class Pass implements SearchedClient {
        private final WaitsHistory history;
        private final Client client;
        private final String awaits;
        private final int question;
        private @Nullable Runnable meanwhile;
        private int asked;

        Pass(WaitsHistory history, Client client, String awaits, Runnable meanwhile, int question) {
            this.history = history;
            this.client = client;
            this.awaits = awaits;
            this.meanwhile = meanwhile;
            this.question = question;
        }

        private <T> CompletableFuture<T> ask(Supplier<T> atStore) {
            if (asked++ == question) {
                playMeanwhile();
            }
            return CompletableFuture.completedFuture(atStore.get());
        }

        /** Once: if the pass asked fewer questions, after it. */
        void playMeanwhile() {
            Runnable now = meanwhile;
            meanwhile = null;
            if (now != null) {
                now.run();
            }
        }

        @Override
        public List<Searched> waits() {
            return List.of(new Searched(client, awaits, client.isReader));
        }

        /** As on a store that doesn't know who waits. */
        @Override
        public CompletableFuture<List<PolledHold>> poll() {
            return ask(() -> List.of(new PolledHold(client, false, true, false)));
        }

        @Override
        public CompletableFuture<Optional<NameState>> inspect(String name) {
            return ask(() -> Optional.of(history.inspect(name, client)));
        }

        @Override
        public List<TableEntry> tables() {
            if (client.awaits == null) {
                return List.of();
            }
            List<OwnWait.Hold> holds = new ArrayList<>();
            for (String lock : client.holds.keySet()) {
                boolean isWrite = client.holds.get(lock);
                holds.add(new OwnWait.Hold(lock, lock, isWrite, 1, client.owner()));
            }
            OwnWait own = new OwnWait(client, client, client.name, client.awaits, Blocking.ALL, "", 0, false, holds);
            Reader reader = client.isReader ? new Reader(false, client.name, false) : null;
            return List.of(new TableEntry(own, true, reader));
        }

        @Override
        public long youngestNanos() {
            return 0;
        }
    }
}
