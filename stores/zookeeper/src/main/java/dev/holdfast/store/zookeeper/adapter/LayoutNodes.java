package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.zookeeper.client.Requests;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;

/** Creates the permanent nodes, once for all clients. */
final class LayoutNodes {

    private static final byte[] NOTHING = {};

    /** How many shards one write creates. */
    private static final int BATCH = 64;

    private static final byte[] MARK = "holdfast 2".getBytes(StandardCharsets.US_ASCII);

    private final NodeLayout layout;
    private final Requests requests;

    LayoutNodes(NodeLayout layout, Requests requests) {
        this.layout = layout;
        this.requests = requests;
    }

    /** Creates the missing nodes. Fails if the root is not that of a store. */
    CompletableFuture<Boolean> ensure() {
        CompletableFuture<Boolean> synced = requests.sync("/");
        return requests.get(layout.root(), null)
                .thenCombine(synced, (root, done) -> root)
                .thenCompose(root -> {
                    if (root.isPresent() && !Arrays.equals(root.get().data(), MARK)) {
                        throw new StoreException(
                                Reason.CORRUPT,
                                Effect.NONE,
                                "the node '" + layout.root()
                                        + "' is not the root of a store, or was written by a newer "
                                        + "version: use another root",
                                null);
                    }
                    return areAllThere()
                            .thenCompose(areThere -> areThere ? CompletableFuture.completedFuture(true) : make());
                });
    }

    private CompletableFuture<Boolean> areAllThere() {
        CompletableFuture<Boolean> parents =
                areThere(layout.root(), Stream.concat(parents(), Stream.of(layout.clock())));
        CompletableFuture<Boolean> shards = areThere(layout.records(), shards().mapToObj(layout::shard));
        CompletableFuture<Boolean> arrivals = areThere(layout.arrivals(), shards().mapToObj(layout::arrivals));
        CompletableFuture<Boolean> helpers = areThere(layout.helpers(), helpers());
        return parents.thenCombine(shards, Boolean::logicalAnd)
                .thenCombine(arrivals, Boolean::logicalAnd)
                .thenCombine(helpers, Boolean::logicalAnd);
    }

    private CompletableFuture<Boolean> areThere(String parent, Stream<String> paths) {
        return requests.children(parent, null).thenApply(found -> {
            Set<String> names = Set.copyOf(found.orElse(List.of()));
            return paths.allMatch(path -> names.contains(path.substring(parent.length() + 1)));
        });
    }

    private Stream<String> parents() {
        return Stream.of(
                layout.records(),
                layout.sessions(),
                layout.beats(),
                layout.helpers(),
                layout.arrivals(),
                layout.turn());
    }

    private Stream<String> helpers() {
        return IntStream.range(0, NodeLayout.SESSION_SHARDS).mapToObj(layout::helpers);
    }

    private static IntStream shards() {
        return IntStream.range(0, NodeLayout.SHARDS);
    }

    /** Creates nodes in an order in which the clock is last: if it exists, so do the others, unless deleted by hand. */
    private CompletableFuture<Boolean> make() {
        List<CompletableFuture<Boolean>> made = new ArrayList<>();
        String root = layout.root();
        for (int slash = root.indexOf('/', 1); slash > 0; slash = root.indexOf('/', slash + 1)) {
            made.add(ensure(root.substring(0, slash)));
        }
        return all(made)
                .thenCompose(parents -> requests.create(root, MARK))
                .thenCompose(done -> all(
                        parents().map(path -> requests.create(path, NOTHING)).toList()))
                .thenCompose(done -> all(
                        helpers().map(path -> requests.create(path, NOTHING)).toList()))
                .thenCompose(done -> {
                    byte[] floor = NodeData.floor(0);
                    List<CompletableFuture<Boolean>> batches = new ArrayList<>();
                    for (int from = 0; from < NodeLayout.SHARDS; from += BATCH) {
                        batches.add(makeShards(from, floor));
                    }
                    return all(batches);
                })
                .thenCompose(done -> requests.create(layout.clock(), NOTHING));
    }

    private CompletableFuture<Boolean> makeShards(int from, byte[] floor) {
        Map<String, byte[]> nodes = new LinkedHashMap<>();
        IntStream.range(from, from + BATCH).forEach(shard -> {
            nodes.put(layout.shard(shard), floor);
            nodes.put(layout.arrivals(shard), NOTHING);
        });
        List<Op> creates = nodes.entrySet().stream()
                .map(node -> Op.create(node.getKey(), node.getValue(), requests.acl(), CreateMode.PERSISTENT))
                .toList();
        // Refused if another client does the same; then the missing ones are created one by one.
        return requests.multi(creates)
                .thenCompose(done -> done.isPresent()
                        ? CompletableFuture.completedFuture(true)
                        : all(nodes.entrySet().stream()
                                .map(node -> requests.create(node.getKey(), node.getValue()))
                                .toList()));
    }

    /** Creates the parents of the root, unless they exist: this client may lack the permission to create them. */
    private CompletableFuture<Boolean> ensure(String parent) {
        return requests.get(parent, null)
                .thenCompose(node ->
                        node.isPresent() ? CompletableFuture.completedFuture(true) : requests.create(parent, NOTHING));
    }

    private static CompletableFuture<Boolean> all(List<CompletableFuture<Boolean>> parts) {
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).thenApply(done -> true);
    }
}
