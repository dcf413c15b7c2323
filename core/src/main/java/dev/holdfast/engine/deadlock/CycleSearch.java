package dev.holdfast.engine.deadlock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

/** Finds cycles in a graph of waits. Stateless. */
public final class CycleSearch {

    private CycleSearch() {}

    /**
     * The shortest cycle through a node, beginning with it; empty if there is none.
     *
     * @param next the nodes to which edges lead from a node
     * @param mayPass whether a node other than the first may be part of the cycle
     */
    public static <N> List<N> shortest(N start, Function<N, ? extends Collection<N>> next, Predicate<N> mayPass) {
        Map<N, N> previous = new HashMap<>();
        Deque<N> pending = new ArrayDeque<>();
        pending.add(start);
        while (!pending.isEmpty()) {
            N node = pending.remove();
            for (N other : next.apply(node)) {
                if (other.equals(start)) {
                    return path(start, node, previous);
                }
                if (mayPass.test(other) && previous.putIfAbsent(other, node) == null) {
                    pending.add(other);
                }
            }
        }
        return List.of();
    }

    private static <N> List<N> path(N start, N end, Map<N, N> previous) {
        Deque<N> path = new ArrayDeque<>();
        for (N node = end; !node.equals(start); node = Objects.requireNonNull(previous.get(node))) {
            path.addFirst(node);
        }
        path.addFirst(start);
        return List.copyOf(path);
    }

    /**
     * The strongly connected components of at least two nodes, by node: two nodes are in one if each can be reached
     * from the other. Edges to nodes that are not listed are ignored.
     */
    public static <N> Map<N, Set<N>> components(Collection<N> nodes, Function<N, ? extends Collection<N>> next) {
        return new Components<>(nodes, next).find();
    }

    /** Tarjan's algorithm, without recursion: a chain of waits may be long. */
    private static final class Components<N> {

        /** A node on the path that is being visited. */
        private record Visit<N>(N node, Deque<N> open) {}

        private final Collection<N> nodes;
        private final Set<N> known;
        private final Function<N, ? extends Collection<N>> next;
        private final Map<N, Integer> indexes = new HashMap<>();
        private final Map<N, Integer> lowest = new HashMap<>();
        private final Deque<N> stack = new ArrayDeque<>();
        private final Set<N> onStack = new HashSet<>();
        private final Map<N, Set<N>> found = new LinkedHashMap<>();

        Components(Collection<N> nodes, Function<N, ? extends Collection<N>> next) {
            this.nodes = nodes;
            this.known = new HashSet<>(nodes);
            this.next = next;
        }

        Map<N, Set<N>> find() {
            for (N node : nodes) {
                if (!indexes.containsKey(node)) {
                    visit(node);
                }
            }
            return found;
        }

        private void visit(N root) {
            Deque<Visit<N>> path = new ArrayDeque<>();
            path.push(begin(root));
            while (!path.isEmpty()) {
                Visit<N> visit = path.element();
                N other = visit.open().poll();
                if (other == null) {
                    path.pop();
                    end(visit.node());
                    if (!path.isEmpty()) {
                        lower(path.element().node(), Objects.requireNonNull(lowest.get(visit.node())));
                    }
                } else if (!indexes.containsKey(other)) {
                    path.push(begin(other));
                } else if (onStack.contains(other)) {
                    lower(visit.node(), Objects.requireNonNull(indexes.get(other)));
                }
            }
        }

        private Visit<N> begin(N node) {
            int index = indexes.size();
            indexes.put(node, index);
            lowest.put(node, index);
            stack.push(node);
            onStack.add(node);
            Deque<N> open = new ArrayDeque<>();
            for (N other : next.apply(node)) {
                if (known.contains(other)) {
                    open.add(other);
                }
            }
            return new Visit<>(node, open);
        }

        private void lower(N node, int index) {
            lowest.merge(node, index, Math::min);
        }

        private void end(N node) {
            if (!Objects.equals(lowest.get(node), indexes.get(node))) {
                return;
            }
            List<N> component = new ArrayList<>();
            N member;
            do {
                member = stack.pop();
                onStack.remove(member);
                component.add(member);
            } while (!member.equals(node));
            if (component.size() > 1) {
                Set<N> members = Collections.unmodifiableSet(new LinkedHashSet<>(component));
                component.forEach(each -> found.put(each, members));
            }
        }
    }
}
