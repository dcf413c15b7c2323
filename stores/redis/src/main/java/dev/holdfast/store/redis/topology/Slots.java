package dev.holdfast.store.redis.topology;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The assignment of slots to cluster nodes, as reported by one node.
 *
 * @param ranges the slots and their primaries, without those that no node serves
 * @param nodes all nodes of the cluster, including replicas
 */
record Slots(List<Range> ranges, Set<Place> nodes) {

    /** A node's address. */
    record Place(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /** Consecutive slots of one primary, both ends inclusive. */
    record Range(int first, int last, Place primary) {}

    /**
     * Reads the answer to {@code CLUSTER SLOTS}.
     *
     * @param asked the address of the answering node: some nodes omit their own
     * @throws IllegalArgumentException if it has another form
     */
    static Slots read(List<?> answer, Place asked) {
        List<Range> ranges = new ArrayList<>();
        Set<Place> nodes = new HashSet<>();
        for (Object entry : answer) {
            if (!(entry instanceof List<?> parts)
                    || parts.size() < 3
                    || !(parts.get(0) instanceof Long first)
                    || !(parts.get(1) instanceof Long last)) {
                throw new IllegalArgumentException("Not a valid description of slots: " + entry);
            }
            for (int i = 2; i < parts.size(); i++) {
                Place place = place(parts.get(i), asked);
                if (place != null) {
                    nodes.add(place);
                    if (i == 2) {
                        ranges.add(new Range(first.intValue(), last.intValue(), place));
                    }
                }
            }
        }
        return new Slots(List.copyOf(ranges), Set.copyOf(nodes));
    }

    private static @Nullable Place place(Object node, Place asked) {
        if (!(node instanceof List<?> parts) || parts.size() < 2 || !(parts.get(1) instanceof Long port)) {
            throw new IllegalArgumentException("Not a valid description of a node: " + node);
        }
        String host = parts.get(0) instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : asked.host();
        // The answering node reports '?' for a node whose address it doesn't know.
        return host.equals("?") ? null : new Place(host.isEmpty() ? asked.host() : host, port.intValue());
    }

    /** The primary of a slot; null if none is known. */
    @Nullable
    Place primaryOf(int slot) {
        for (Range range : ranges) {
            if (range.first() <= slot && slot <= range.last()) {
                return range.primary();
            }
        }
        return null;
    }
}
