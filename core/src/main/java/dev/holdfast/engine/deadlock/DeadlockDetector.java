package dev.holdfast.engine.deadlock;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Finds the deadlocks with other clients of which threads of this client are members. Each client states its own waits,
 * reads those of others, and acknowledges what it has read; a cycle whose members acknowledge each other existed at one
 * moment, as {@link DeadlockRules} explains. Not thread-safe: one pass at a time.
 */
public final class DeadlockDetector {

    /** The most waits that are stated under one grant, the oldest: a name with more of them is not searched further. */
    private static final int MAX_LINES = 8;

    private static final int MAX_REPORTED = 1_024;

    /** What was stated of a wait of this client. */
    private static final class Statement {
        final long id;
        final String reason;
        final long order;
        long waitedMillis;
        final Set<Long> acks = new LinkedHashSet<>();
        boolean isNew = true;

        Statement(long id, OwnWait wait, long order) {
            this.id = id;
            this.reason = wait.reason();
            this.order = order;
            this.waitedMillis = wait.waitedMillis();
        }
    }

    private final DeadlockRules rules;
    private final LongSupplier random;
    private final long ttlNanos;

    /** By {@link OwnWait#request()}. */
    private Map<Object, Statement> stated = new HashMap<>();

    /** The greatest order that was read or stated. */
    private long newestOrder;

    private Set<Long> known = Set.of();

    /** The ids of the members of reported cycles. */
    private final Set<Set<Long>> reported = new LinkedHashSet<>();

    /** In how many passes in a row each cycle was found that is not confirmed. */
    private Map<Set<Long>, Integer> unconfirmed = new HashMap<>();

    /**
     * Makes the detector of a client.
     *
     * @param random draws the ids of waits
     */
    public DeadlockDetector(DeadlockRules rules, LongSupplier random, long ttlNanos) {
        this.rules = rules;
        this.random = random;
        this.ttlNanos = ttlNanos;
    }

    /**
     * Ends a pass.
     *
     * @param own the nested waits of this client, read after all that the walk has read
     * @param awaited the requests of those for whose holds others may wait
     * @param walk what was read of others
     * @param youngestNanos the age of the youngest nested wait
     */
    public Findings evaluate(Collection<OwnWait> own, Set<Object> awaited, Walk walk, long youngestNanos) {
        Map<Long, WaitNode> nodes = new LinkedHashMap<>(walk.nodes());
        List<WaitNode> ownNodes = state(own, walk.newestOrder());
        ownNodes.forEach(node -> nodes.put(node.id(), node));
        Map<Long, Set<Long>> edges = edges(nodes.values());
        Map<Long, Set<Long>> components =
                CycleSearch.components(nodes.keySet(), id -> edges.getOrDefault(id, Set.of()));
        List<List<WaitNode>> deadlocks = new ArrayList<>();
        Map<Set<Long>, Integer> stillUnconfirmed = new HashMap<>();
        for (WaitNode node : ownNodes) {
            Set<Long> component = components.get(node.id());
            if (component != null
                    && node.own() != null
                    && awaited.contains(node.own().request())) {
                List<WaitNode> cycle = cycle(node, component, nodes, edges);
                acknowledge(node, component, cycle);
                Set<Long> ids = cycle.stream().map(WaitNode::id).collect(Collectors.toSet());
                if (!rules.isSearched(cycle.size()) || reported.contains(ids)) {
                    continue;
                }
                if (isConfirmed(cycle, ids, walk)) {
                    reported.add(ids);
                    deadlocks.add(cycle);
                } else {
                    stillUnconfirmed.put(ids, unconfirmed.getOrDefault(ids, -1) + 1);
                }
            }
        }
        unconfirmed = stillUnconfirmed;
        long pause = pause(walk, youngestNanos);
        stated.values().forEach(statement -> statement.isNew = false);
        return new Findings(deadlocks, lines(ownNodes), pause);
    }

    /** Nothing is stated any more. */
    public void reset() {
        stated.clear();
        reported.clear();
        unconfirmed.clear();
        known = Set.of();
    }

    /** The nodes of the client's own waits, the oldest first. */
    private List<WaitNode> state(Collection<OwnWait> own, long newestRead) {
        newestOrder = Math.max(newestOrder, newestRead);
        Map<Object, Statement> next = new HashMap<>();
        List<WaitNode> nodes = new ArrayList<>();
        List<OwnWait> oldestFirst = own.stream()
                .sorted(Comparator.comparingLong(wait -> -wait.waitedMillis()))
                .toList();
        for (OwnWait wait : oldestFirst) {
            Statement statement = stated.get(wait.request());
            if (statement == null || !statement.reason.equals(wait.reason())) {
                statement = new Statement(rules.newId(wait.thread(), random.getAsLong()), wait, ++newestOrder);
            }
            next.put(wait.request(), statement);
            WaitNode node = new WaitNode(lineOf(wait, statement, null), wait, statement.isNew);
            node.acks().addAll(statement.acks);
            for (OwnWait.Hold hold : wait.holds()) {
                node.holds()
                        .put(
                                hold.name(),
                                new WaitNode.HeldName(hold.isWrite(), hold.token(), hold.owner(), node.acks()));
            }
            nodes.add(node);
        }
        stated = next;
        if (reported.size() > MAX_REPORTED) {
            // A cycle whose waits still go on would be reported again, once.
            reported.clear();
        }
        return nodes;
    }

    private static WaitLine lineOf(OwnWait wait, Statement statement, OwnWait.@Nullable Hold hold) {
        return new WaitLine(
                statement.id,
                wait.awaits(),
                wait.blocking(),
                hold != null && hold.isWrite(),
                hold == null ? 0 : hold.token(),
                wait.threadName(),
                statement.order,
                statement.waitedMillis,
                wait.mayFail(),
                Set.copyOf(statement.acks));
    }

    /** For each wait those that hold its name and block it. */
    private Map<Long, Set<Long>> edges(Collection<WaitNode> nodes) {
        Map<String, List<WaitNode>> holders = new HashMap<>();
        for (WaitNode node : nodes) {
            node.holds()
                    .keySet()
                    .forEach(name -> holders.computeIfAbsent(name, key -> new ArrayList<>())
                            .add(node));
        }
        Map<Long, Set<Long>> edges = new HashMap<>();
        for (WaitNode node : nodes) {
            Set<Long> next = new LinkedHashSet<>();
            String awaits = node.line().awaits();
            for (WaitNode holder : holders.getOrDefault(awaits, List.of())) {
                boolean isWrite =
                        Objects.requireNonNull(holder.holds().get(awaits)).isWrite();
                if (holder.id() != node.id()
                        && rules.blocks(node.line().blocking().isExclusive(), isWrite)) {
                    next.add(holder.id());
                }
            }
            edges.put(node.id(), next);
        }
        return edges;
    }

    /** The shortest cycle through a wait; one of waits that acknowledge it, if there is such a cycle. */
    private static List<WaitNode> cycle(
            WaitNode start, Set<Long> component, Map<Long, WaitNode> nodes, Map<Long, Set<Long>> edges) {
        List<Long> acknowledging = CycleSearch.shortest(
                start.id(),
                id -> edges.getOrDefault(id, Set.of()),
                id -> component.contains(id) && acknowledges(Objects.requireNonNull(nodes.get(id)), start.id()));
        List<Long> ids = acknowledging.isEmpty()
                ? CycleSearch.shortest(start.id(), id -> edges.getOrDefault(id, Set.of()), component::contains)
                : acknowledging;
        return ids.stream().map(id -> Objects.requireNonNull(nodes.get(id))).toList();
    }

    private static boolean acknowledges(WaitNode node, long id) {
        return node.own() != null || node.acks().contains(id);
    }

    private void acknowledge(WaitNode node, Set<Long> component, List<WaitNode> cycle) {
        Statement statement = statementOf(node);
        long before = cycle.get(cycle.size() - 1).id();
        for (long id : rules.acknowledged(component, before)) {
            if (id != node.id() && statement.acks.size() < WaitLine.MAX_ACKS) {
                if (statement.acks.add(id)) {
                    statement.waitedMillis = Objects.requireNonNull(node.own()).waitedMillis();
                }
            }
        }
    }

    private Statement statementOf(WaitNode node) {
        return Objects.requireNonNull(
                stated.get(Objects.requireNonNull(node.own()).request()));
    }

    private boolean isConfirmed(List<WaitNode> cycle, Set<Long> ids, Walk walk) {
        for (int i = 0; i < cycle.size(); i++) {
            WaitNode member = cycle.get(i);
            WaitLine before = cycle.get((i + cycle.size() - 1) % cycle.size()).line();
            WaitNode.HeldName hold = Objects.requireNonNull(member.holds().get(before.awaits()));
            Set<Long> others = new HashSet<>(ids);
            others.remove(member.id());
            boolean isConfirmed = member.own() == null
                    ? rules.isConfirmed(hold.acks(), others, before.id())
                    : rules.isConfirmedHere(member.isNew());
            if (!isConfirmed) {
                return false;
            }
        }
        List<List<String>> annotations =
                cycle.stream().map(member -> walk.linesOf(member.id())).toList();
        return rules.mayReport(ids, annotations);
    }

    private long pause(Walk walk, long youngestNanos) {
        Set<Long> read = Set.copyOf(walk.nodes().keySet());
        boolean hasNews = !known.containsAll(read);
        known = read;
        long pause = rules.pauseNanos(youngestNanos, ttlNanos);
        if (hasNews) {
            pause = Math.min(pause, rules.pauseAfterNewsNanos());
        }
        for (int passes : unconfirmed.values()) {
            pause = Math.min(pause, rules.pauseUnconfirmedNanos(passes));
        }
        return pause;
    }

    /** The lines for each grant, those of the oldest waits first. */
    private Map<Object, Map<Object, String>> lines(List<WaitNode> ownNodes) {
        Map<Object, Map<Object, String>> lines = new LinkedHashMap<>();
        for (WaitNode node : ownNodes) {
            OwnWait wait = Objects.requireNonNull(node.own());
            for (OwnWait.Hold hold : wait.holds()) {
                Map<Object, String> ofGrant = lines.computeIfAbsent(hold.grant(), grant -> new LinkedHashMap<>());
                if (ofGrant.size() < MAX_LINES) {
                    ofGrant.put(
                            wait.request(),
                            lineOf(wait, statementOf(node), hold).format());
                }
            }
        }
        return lines;
    }

    /**
     * The member whose wait is ended: of those that may fail, the one that was stated last. Its client had read the
     * others by then, so no clock is needed. Of several, the one with the greatest id. Every client chooses the same.
     */
    public static Optional<WaitNode> victim(List<WaitNode> cycle) {
        return cycle.stream()
                .filter(member -> member.line().mayFail())
                .max(Comparator.<WaitNode>comparingLong(member -> member.line().order())
                        .thenComparingLong(WaitNode::id));
    }
}
