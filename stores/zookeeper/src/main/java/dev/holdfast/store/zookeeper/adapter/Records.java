package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.zookeeper.client.Node;
import dev.holdfast.store.zookeeper.client.Requests;
import dev.holdfast.store.zookeeper.client.ServerClock;
import dev.holdfast.store.zookeeper.client.ZooKeeperFailures;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The records of resources, below the nodes of their shards.
 *
 * <p>A node that is created again begins at version 0, so its version does not distinguish it from the earlier one.
 * Each record therefore has an incarnation: the number of deletions in its shard when it was created, and a random
 * number, because somebody may delete a node by hand. A child of the node has the incarnation as its name. Each write
 * checks that this child exists; a creation checks the number of deletions instead.
 *
 * <p><b>Thread-safety:</b> safe.
 */
final class Records {

    /** The change number of a missing record. */
    static final int MISSING = -1;

    /**
     * The state of a shard.
     *
     * @param version the version of its node: the number of deleted records
     * @param token an upper bound of the tokens of deleted records
     */
    record Floor(int version, long token) {}

    private final NodeLayout layout;
    private final Requests requests;
    private final ServerClock clock;
    private final AtomicReferenceArray<@Nullable Floor> floors = new AtomicReferenceArray<>(NodeLayout.SHARDS);

    Records(NodeLayout layout, Requests requests, ServerClock clock) {
        this.layout = layout;
        this.requests = requests;
        this.clock = clock;
    }

    /** The last known state of a shard. */
    Optional<Floor> knownFloor(ResourceName name) {
        return Optional.ofNullable(floors.get(NodeLayout.shardOf(name)));
    }

    void seen(ResourceName name, Floor floor) {
        floors.accumulateAndGet(NodeLayout.shardOf(name), floor, Records::later);
    }

    private static @Nullable Floor later(@Nullable Floor known, @Nullable Floor fresh) {
        return known == null || (fresh != null && fresh.version() > known.version()) ? fresh : known;
    }

    /** Guesses that there is no record, as for most names that this client has not used. */
    Optional<RegisterRecord> guess(ResourceName name) {
        return knownFloor(name).map(floor -> record(floor, Optional.empty()));
    }

    /**
     * Reads a record as the connected server knows it, without its shard. A write that creates the record fails if the
     * shard has changed since this client saw it.
     */
    Optional<CompletableFuture<RegisterRecord>> peek(ResourceName name) {
        return knownFloor(name)
                .map(floor -> requests.get(layout.record(name), null).thenApply(node -> record(floor, node)));
    }

    /** Reads a record as of all acknowledged writes. */
    CompletableFuture<RegisterRecord> read(ResourceName name) {
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        return readHere(name).thenCombine(synced, (record, done) -> record);
    }

    /**
     * Reads a record as the connected server knows it, which includes all answers to this client. The shard is read
     * first: if the record is deleted after that, the resulting version matches in no later write.
     */
    CompletableFuture<RegisterRecord> readHere(ResourceName name) {
        CompletableFuture<Floor> floor = readFloor(name);
        return requests.get(layout.record(name), null).thenCombine(floor, (node, seen) -> record(seen, node));
    }

    CompletableFuture<Floor> readFloor(ResourceName name) {
        String path = layout.shard(name);
        return requests.get(path, null).thenApply(node -> {
            Node shard = node.orElseThrow(() -> ZooKeeperFailures.missing(path));
            Floor floor = new Floor(shard.stat().getVersion(), NodeData.floor(path, shard.data()));
            seen(name, floor);
            return floor;
        });
    }

    private static RegisterRecord record(Floor floor, Optional<Node> node) {
        if (node.isEmpty()) {
            return new RegisterRecord(Optional.empty(), missing(floor.version()), floor.token());
        }
        NodeData.Content content = NodeData.record(node.get().data());
        RecordVersion version =
                new RecordVersion(content.incarnation(), node.get().stat().getVersion());
        return new RegisterRecord(Optional.of(content.state()), version, floor.token());
    }

    /** The version of a missing record in a shard with a number of deletions. */
    static RecordVersion missing(int deletions) {
        return new RecordVersion((long) deletions << Integer.SIZE, MISSING);
    }

    /** The number of deletions in a shard when a record of it was created or missing. */
    static int deletions(long incarnation) {
        return (int) (incarnation >> Integer.SIZE);
    }

    /** A unique incarnation, above all earlier ones unless a record was deleted by hand. */
    static long incarnation(int deletions) {
        return missing(deletions).incarnation() | (Randomness.nextLong() >>> Integer.SIZE);
    }

    /**
     * A page of the records, shard by shard.
     *
     * @param cursor the number of a shard, and the node after which to continue
     */
    CompletableFuture<RegisterPage> list(String prefix, Optional<String> cursor, int limit) {
        String from = cursor.orElse("0/");
        int slash = from.indexOf('/');
        int shard = Integer.parseInt(from.substring(0, slash));
        CompletableFuture<Boolean> synced = requests.sync(layout.root());
        return listShard(prefix, shard, from.substring(slash + 1), limit, List.of())
                .thenCombine(synced, (page, done) -> page);
    }

    private CompletableFuture<RegisterPage> listShard(
            String prefix, int shard, String after, int limit, List<RegisterPage.Entry> before) {
        if (shard == NodeLayout.SHARDS) {
            return CompletableFuture.completedFuture(new RegisterPage(before, Optional.empty()));
        }
        return requests.children(layout.shard(shard), null).thenCompose(names -> {
            List<String> wanted = names.orElse(List.of()).stream()
                    .filter(name -> name.compareTo(after) > 0)
                    .filter(name -> NodeLayout.decoded(name)
                            .filter(resource -> resource.value().startsWith(prefix))
                            .isPresent())
                    .sorted(Comparator.naturalOrder())
                    .limit(limit - before.size())
                    .toList();
            return readAll(wanted).thenCompose(entries -> {
                List<RegisterPage.Entry> all = new ArrayList<>(before);
                all.addAll(entries);
                if (!wanted.isEmpty() && before.size() + wanted.size() >= limit) {
                    String last = wanted.get(wanted.size() - 1);
                    return CompletableFuture.completedFuture(new RegisterPage(all, Optional.of(shard + "/" + last)));
                }
                return listShard(prefix, shard + 1, "", limit, all);
            });
        });
    }

    private CompletableFuture<List<RegisterPage.Entry>> readAll(List<String> nodes) {
        Map<ResourceName, CompletableFuture<Optional<RegisterPage.Entry>>> reads = new LinkedHashMap<>();
        for (String node : nodes) {
            NodeLayout.decoded(node).ifPresent(name -> reads.put(name, readEntry(name)));
        }
        return CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new))
                .thenApply(all -> reads.values().stream()
                        .flatMap(read -> read.join().stream())
                        .toList());
    }

    /** As {@link #readHere}. */
    private CompletableFuture<Optional<RegisterPage.Entry>> readEntry(ResourceName name) {
        CompletableFuture<Floor> floor = readFloor(name);
        return requests.get(layout.record(name), null)
                .thenCombine(
                        floor,
                        (found, seen) -> found.map(node -> new RegisterPage.Entry(
                                name,
                                record(seen, found),
                                clock.since(node.stat().getMtime()))));
    }
}
