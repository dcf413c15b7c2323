package dev.holdfast.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * Who meets on one kind of server.
 *
 * @param name what begins the names of workloads
 * @param title what people call it
 * @param raw what one would write by hand: the floor
 * @param ours Holdfast as it comes
 * @param oursFair Holdfast in strict order
 * @param store the store of ours
 * @param peers the others, as they come
 * @param fairPeers the others, in strict order
 * @param settings what there is to say of their settings; Markdown
 */
record Field(
        Servers.Kind server,
        String name,
        String title,
        Contestant raw,
        Contestant ours,
        Contestant oursFair,
        Holdfasts store,
        List<Contestant> peers,
        List<Contestant> fairPeers,
        String settings) {

    static final Field REDIS = new Field(
            Servers.Kind.REDIS,
            "redis",
            "Redis",
            new RawRedis(),
            Holdfasts.REDIS,
            Holdfasts.REDIS_FAIR,
            Holdfasts.REDIS,
            List.of(Redissons.LOCK, Redissons.SPIN, SpringLocks.SPIN, SpringLocks.PUB_SUB),
            List.of(Redissons.FAIR),
            "All use one server with its default settings but that it writes nothing to the disk, and each its own default settings: Redisson renews its locks, the registry of Spring Integration does not. *raw* is `SET NX PX` and a script that compares and deletes, on one connection of Lettuce that all threads share, so that their commands follow each other without waiting; who finds the lock taken asks again at once.");

    /** All that run as they come. */
    List<Contestant> all() {
        List<Contestant> all = new ArrayList<>(List.of(raw, ours));
        all.addAll(peers);
        return all;
    }

    /** All that run in strict order. */
    List<Contestant> fair() {
        List<Contestant> fair = new ArrayList<>(List.of(oursFair));
        fair.addAll(fairPeers);
        return fair;
    }
}
