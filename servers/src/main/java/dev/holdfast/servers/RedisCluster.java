package dev.holdfast.servers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A Redis Cluster: primaries that share the slots evenly, and a replica for each. */
public final class RedisCluster implements AutoCloseable {

    /** How many slots a cluster has. */
    public static final int SLOTS = 16_384;

    /** Where a node talks with the others: so far above its port. */
    private static final int BUS_DISTANCE = 10_000;

    /** How long a healthy node may be silent: on a busy machine it may wait for seconds. */
    private static final String PATIENCE_MILLIS = "60000";

    /**
     * How long it may be silent while a replica is to take over, and while they get to know each other: they talk more.
     */
    private static final String PROMPT_MILLIS = "5000";

    /** The words in a line of {@code CLUSTER NODES}, by their place. */
    private static final int NAME = 0;

    private static final int FLAGS = 2;
    private static final int EPOCH = 6;
    private static final int SLOTS_FROM = 8;

    private final List<RedisServer> primaries = new ArrayList<>();
    private final List<RedisServer> replicas = new ArrayList<>();
    private final @Nullable Certificates certificates;

    private RedisCluster(@Nullable Certificates certificates) {
        this.certificates = certificates;
    }

    /** Starts three primaries with a replica each, and returns when all is linked. */
    public static RedisCluster start() {
        return new RedisCluster(null).formed(3, true);
    }

    /** Starts three primaries without replicas that speak TLS with clients, at {@link #uri()}, and with each other. */
    public static RedisCluster start(Certificates certificates) {
        return new RedisCluster(certificates).formed(3, false);
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

    /** The address by which a client finds the whole; over TLS if it has that. */
    public String uri() {
        StringBuilder uri = new StringBuilder(certificates == null ? "redis-cluster://" : "rediss-cluster://");
        for (RedisServer node : primaries) {
            uri.append(node == primaries.get(0) ? "" : ",").append("127.0.0.1:").append(portAmongNodes(node));
        }
        return uri.toString();
    }

    /** The port by which nodes find each other, and clients that speak as the nodes do. */
    private int portAmongNodes(RedisServer node) {
        return certificates == null ? node.port() : node.tlsPort();
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
        announceMove(slot, from, to);
        between.run();
        for (List<String> keys = keysIn(slot, from); !keys.isEmpty(); keys = keysIn(slot, from)) {
            moveKeys(keys, from, to);
        }
        completeMove(slot, from, to);
    }

    /**
     * The first step of a move, after all nodes know of the previous move: notifies both sides that the slot is moving.
     */
    public void announceMove(int slot, RedisServer from, RedisServer to) {
        // Who takes a slot gives itself a new epoch unless the newest it knows of is its own. If the giver has a newer
        // one that it has not heard of, the giver's messages win, and in the end each says that the other has the slot.
        Until.await("the nodes agree who has which slots", this::agrees);
        to.command("CLUSTER", "SETSLOT", String.valueOf(slot), "IMPORTING", idOf(from));
        from.command("CLUSTER", "SETSLOT", String.valueOf(slot), "MIGRATING", idOf(to));
    }

    /** The keys of a slot that a node has, up to a hundred of them. */
    public List<String> keysIn(int slot, RedisServer node) {
        return node.command("CLUSTER", "GETKEYSINSLOT", String.valueOf(slot), "100").stream()
                .map(String::valueOf)
                .toList();
    }

    /** The second step of a move: some of the keys go, in one stroke. */
    public void moveKeys(List<String> keys, RedisServer from, RedisServer to) {
        List<String> words = new ArrayList<>(
                List.of("MIGRATE", "127.0.0.1", String.valueOf(portAmongNodes(to)), "", "0", "20000", "KEYS"));
        words.addAll(keys);
        from.command(words.toArray(String[]::new));
    }

    /** The last step of a move, when the keys have gone: the slot is where they are. */
    public void completeMove(int slot, RedisServer from, RedisServer to) {
        to.command("CLUSTER", "SETSLOT", String.valueOf(slot), "NODE", idOf(to));
        from.command("CLUSTER", "SETSLOT", String.valueOf(slot), "NODE", idOf(to));
    }

    /**
     * Lets a replica take over from its primary, once that has not answered the others for five seconds. Before this
     * call no replica takes over, and no node is given up within the time of a test.
     */
    public void letTakeOver(RedisServer replica) {
        replica.command("CONFIG", "SET", "cluster-replica-no-failover", "no");
        giveUpAfter(PROMPT_MILLIS);
    }

    private void giveUpAfter(String millis) {
        nodes().forEach(node -> node.command("CONFIG", "SET", "cluster-node-timeout", millis));
    }

    /** Whether every node that lives says that the cluster serves all slots. */
    public boolean isOk() {
        return nodes().stream()
                .filter(node -> node.process().isAlive())
                .allMatch(node ->
                        String.valueOf(node.command("CLUSTER", "INFO").get(0)).contains("cluster_state:ok"));
    }

    /** Whether all live nodes agree on the epochs and slots of the primaries. */
    private boolean agrees() {
        return nodes().stream()
                        .filter(node -> node.process().isAlive())
                        .map(RedisCluster::primariesAsSeenBy)
                        .distinct()
                        .count()
                == 1;
    }

    /** A line for each primary: its name, its epoch, and its slots without those that are on their way. */
    private static List<String> primariesAsSeenBy(RedisServer node) {
        return String.valueOf(node.command("CLUSTER", "NODES").get(0))
                .lines()
                .map(line -> line.split(" "))
                .filter(words -> words[FLAGS].contains("master"))
                .map(words -> Stream.concat(
                                Stream.of(words[NAME], words[EPOCH]),
                                Arrays.stream(words).skip(SLOTS_FROM).filter(slots -> !slots.startsWith("[")))
                        .collect(Collectors.joining(" ")))
                .sorted()
                .toList();
    }

    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }

    private RedisCluster formed(int size, boolean isReplicated) {
        try {
            startNodes(size, isReplicated);
            form(size);
            return this;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private void startNodes(int size, boolean isReplicated) {
        Certificates own = certificates;
        for (int i = 0; i < (isReplicated ? 2 : 1) * size; i++) {
            RedisServer.Builder node = RedisServer.builder()
                    .clustered(BUS_DISTANCE)
                    .option("cluster-node-timeout", PROMPT_MILLIS)
                    .option("cluster-replica-no-failover", "yes")
                    .option("cluster-replica-validity-factor", "0");
            if (own != null) {
                node.tlsAmongServers(own).option("tls-cluster", "yes");
            }
            (i < size ? primaries : replicas).add(node.start());
        }
    }

    private void form(int size) {
        int epoch = 0;
        List<RedisServer> met = new ArrayList<>();
        for (RedisServer node : nodes()) {
            node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(++epoch));
            // Introduces each node to each other: gossip would take seconds.
            for (RedisServer other : met) {
                node.command("CLUSTER", "MEET", "127.0.0.1", String.valueOf(portAmongNodes(other)));
            }
            met.add(node);
        }
        for (int i = 0; i < size; i++) {
            // One by one, for Redis 6.2 knows no ranges here.
            Stream<String> slots =
                    IntStream.range(SLOTS * i / size, SLOTS * (i + 1) / size).mapToObj(String::valueOf);
            primaries
                    .get(i)
                    .command(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots)
                            .toArray(String[]::new));
        }
        Until.await("every node knows every other", () -> nodes().stream().allMatch(this::knowsAll));
        for (int i = 0; i < replicas.size(); i++) {
            replicas.get(i).command("CLUSTER", "REPLICATE", idOf(primaries.get(i)));
        }
        Until.await("the cluster serves all slots", this::isOk);
        Until.await(
                "every replica is linked",
                () -> replicas.stream()
                        .allMatch(node -> node.info("role").equals("slave")
                                && node.info("master_link_status").equals("up")));
        Until.await("the nodes agree who has which slots", this::agrees);
        giveUpAfter(PATIENCE_MILLIS);
    }

    private boolean knowsAll(RedisServer node) {
        String known = String.valueOf(node.command("CLUSTER", "NODES").get(0));
        return known.lines().count() == nodes().size() && !known.contains("handshake") && !known.contains("noaddr");
    }
}
