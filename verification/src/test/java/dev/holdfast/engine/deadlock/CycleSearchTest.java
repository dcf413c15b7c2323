package dev.holdfast.engine.deadlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The search for cycles")
class CycleSearchTest {

    private static final int GRAPHS = 5_000;

    @Test
    @DisplayName("agrees with the reachability of each pair of nodes, and finds a shortest cycle through each")
    void randomGraphs() {
        Random random = new Random(1);
        int cyclic = 0;
        for (int graph = 0; graph < GRAPHS; graph++) {
            int size = 1 + random.nextInt(7);
            Map<Integer, Set<Integer>> edges = new HashMap<>();
            double density = random.nextDouble() * 0.5;
            List<Integer> nodes = IntStream.range(0, size).boxed().toList();
            for (int from : nodes) {
                Set<Integer> next = new LinkedHashSet<>();
                nodes.stream()
                        .filter(to -> to != from && random.nextDouble() < density)
                        .forEach(next::add);
                edges.put(from, next);
            }
            Map<Integer, Set<Integer>> components = CycleSearch.components(nodes, edges::get);
            for (int node : nodes) {
                Set<Integer> expected = new HashSet<>();
                for (int other : nodes) {
                    if (distance(node, other, edges) > 0 && distance(other, node, edges) > 0) {
                        expected.add(other);
                    }
                }
                assertThat(components.getOrDefault(node, Set.of())).isEqualTo(expected);
                List<Integer> cycle = CycleSearch.shortest(node, edges::get, other -> true);
                assertThat(cycle).hasSize(Math.max(0, distance(node, node, edges)));
                for (int i = 0; i < cycle.size(); i++) {
                    assertThat(edges.get(cycle.get(i))).contains(cycle.get((i + 1) % cycle.size()));
                }
                cyclic += cycle.isEmpty() ? 0 : 1;
            }
        }
        assertThat(cyclic).isGreaterThan(GRAPHS);
    }

    /** The length of the shortest path of at least one edge; negative if there is none. */
    private static int distance(int from, int to, Map<Integer, Set<Integer>> edges) {
        Set<Integer> reached = Set.of(from);
        for (int length = 1; length <= edges.size(); length++) {
            Set<Integer> next = new HashSet<>();
            reached.forEach(node -> next.addAll(edges.get(node)));
            if (next.contains(to)) {
                return length;
            }
            reached = next;
        }
        return -1;
    }

    @Test
    @DisplayName("passes only nodes that it may, and ignores edges to nodes that are not listed")
    void restricted() {
        Map<String, List<String>> edges =
                Map.of("a", List.of("b", "x"), "b", List.of("a"), "x", List.of("y"), "y", List.of("a"));
        assertThat(CycleSearch.shortest("a", edges::get, node -> !node.equals("b")))
                .containsExactly("a", "x", "y");
        assertThat(CycleSearch.shortest("a", edges::get, node -> node.equals("y")))
                .isEmpty();
        assertThat(CycleSearch.components(List.of("a", "x", "y"), edges::get))
                .containsOnlyKeys("a", "x", "y")
                .allSatisfy((node, component) -> assertThat(component).containsExactlyInAnyOrder("a", "x", "y"));
    }

    @Test
    @DisplayName("finds a cycle through ten thousand waits")
    void large() {
        int size = 10_000;
        List<Integer> nodes = IntStream.range(0, size).boxed().toList();
        assertThat(CycleSearch.components(nodes, node -> List.of((node + 1) % size)))
                .hasSize(size);
        assertThat(CycleSearch.shortest(0, node -> List.of((node + 1) % size), node -> true))
                .hasSize(size);
    }
}
