package dev.holdfast.servers;

import java.util.ArrayList;
import java.util.List;

/** A Redis Cluster: primaries that share the slots evenly, and a replica for each. */
public final class RedisCluster implements AutoCloseable {

    /** How many slots a cluster has. */
    public static final int SLOTS = 16_384;

    /** Where a node talks with the others: so far above its port. */
    private static final int BUS_DISTANCE = 10_000;

    private final List<RedisServer> primaries = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisCluster() {}

    /** Starts three primaries with a replica each, and returns when all is linked. */
    public static RedisCluster start() {
        RedisCluster cluster = new RedisCluster();
        try {
            cluster.form(3);
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    /** The nodes that began as primaries. */
    public List<RedisServer> primaries() {
        return List.copyOf(primaries);
    }

    /** The nodes that began as replicas, in the order of their primaries. */
    public List<RedisServer> replicas() {
        return List.copyOf(replicas);
    }

    /** All nodes. */
    public List<RedisServer> nodes() {
        List<RedisServer> nodes = new ArrayList<>(primaries);
        nodes.addAll(replicas);
        return nodes;
    }

    /** The address by which a client finds the whole. */
    public String uri() {
        StringBuilder uri = new StringBuilder("redis-cluster://");
        for (RedisServer node : primaries) {
            uri.append(node == primaries.get(0) ? "" : ",").append("127.0.0.1:").append(node.port());
        }
        return uri.toString();
    }

    /** The name by which the nodes know one of them. */
    public static String idOf(RedisServer node) {
        return String.valueOf(node.command("CLUSTER", "MYID").get(0));
    }

    /**
     * Gives a slot to another primary as an operator would, with its keys.
     *
     * @param between runs when both sides have said that the slot is on its way and before its keys go
     */
    public void move(int slot, RedisServer from, RedisServer to, Runnable between) {
        String number = String.valueOf(slot);
        to.command("CLUSTER", "SETSLOT", number, "IMPORTING", idOf(from));
        from.command("CLUSTER", "SETSLOT", number, "MIGRATING", idOf(to));
        between.run();
        while (true) {
            List<Object> keys = from.command("CLUSTER", "GETKEYSINSLOT", number, "100");
            if (keys.isEmpty()) {
                break;
            }
            List<String> words = new ArrayList<>(
                    List.of("MIGRATE", "127.0.0.1", String.valueOf(to.port()), "", "0", "5000", "KEYS"));
            keys.forEach(key -> words.add(String.valueOf(key)));
            from.command(words.toArray(String[]::new));
        }
        to.command("CLUSTER", "SETSLOT", number, "NODE", idOf(to));
        from.command("CLUSTER", "SETSLOT", number, "NODE", idOf(to));
    }

    /** Whether every node that lives says that the cluster serves all slots. */
    public boolean isOk() {
        return nodes().stream()
                .filter(node -> node.process().isAlive())
                .allMatch(node ->
                        String.valueOf(node.command("CLUSTER", "INFO").get(0)).contains("cluster_state:ok"));
    }

    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }

    private void form(int size) {
        for (int i = 0; i < 2 * size; i++) {
            (i < size ? primaries : replicas)
                    .add(RedisServer.builder()
                            .clustered(BUS_DISTANCE)
                            .option("cluster-node-timeout", "1000")
                            .option("cluster-replica-validity-factor", "0")
                            .start());
        }
        int epoch = 0;
        for (RedisServer node : nodes()) {
            node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(++epoch));
            node.command(
                    "CLUSTER",
                    "MEET",
                    "127.0.0.1",
                    String.valueOf(primaries.get(0).port()));
        }
        for (int i = 0; i < size; i++) {
            primaries
                    .get(i)
                    .command(
                            "CLUSTER",
                            "ADDSLOTSRANGE",
                            String.valueOf(SLOTS * i / size),
                            String.valueOf(SLOTS * (i + 1) / size - 1));
        }
        Until.isSo("every node knows every other", () -> nodes().stream().allMatch(this::knowsAll));
        for (int i = 0; i < size; i++) {
            replicas.get(i).command("CLUSTER", "REPLICATE", idOf(primaries.get(i)));
        }
        Until.isSo("the cluster serves all slots", this::isOk);
        Until.isSo(
                "every replica is linked",
                () -> replicas.stream()
                        .allMatch(node -> node.info("role").equals("slave")
                                && node.info("master_link_status").equals("up")));
    }

    private boolean knowsAll(RedisServer node) {
        String known = String.valueOf(node.command("CLUSTER", "NODES").get(0));
        return known.lines().count() == nodes().size() && !known.contains("handshake") && !known.contains("noaddr");
    }
}
