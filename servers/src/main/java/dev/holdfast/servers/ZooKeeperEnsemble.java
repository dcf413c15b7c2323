package dev.holdfast.servers;

import dev.holdfast.servers.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Three ZooKeeper servers that elect a leader. Each reaches the others through separate networks with faults on demand,
 * so that it can be cut off from its leader while clients stay connected to it.
 *
 * <p><b>Thread-safety:</b> not thread-safe.
 */
public final class ZooKeeperEnsemble implements Cluster<ZooKeeperServer> {

    private static final int SIZE = 3;

    /**
     * A server that has voted may connect to the leader before that one listens. It retries a few times, but begins
     * another election if the connection ends, while the leader waits for it for the whole {@code initLimit}.
     */
    private static final Duration LEADER_MAY_TAKE = Duration.ofSeconds(5);

    private final List<ZooKeeperServer> nodes = new ArrayList<>();

    /** The networks to the others, by connecting node. */
    private final List<List<FaultProxy>> networks = new ArrayList<>();

    private ZooKeeperEnsemble() {}

    /** Starts three servers, and returns when all of them serve. */
    public static ZooKeeperEnsemble start() {
        return start(node -> {});
    }

    /**
     * Starts three servers, and returns when all of them serve.
     *
     * @param setting changes settings of each server
     */
    public static ZooKeeperEnsemble start(Consumer<ZooKeeperServer.Builder> setting) {
        ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();
        try {
            ensemble.launch(setting);
            ensemble.awaitService();
            return ensemble;
        } catch (RuntimeException e) {
            ensemble.close();
            throw e;
        }
    }

    private void launch(Consumer<ZooKeeperServer.Builder> setting) {
        List<Integer> quorumPorts = ports();
        List<Integer> electionPorts = ports();
        for (int i = 0; i < SIZE; i++) {
            List<FaultProxy> network = new ArrayList<>();
            networks.add(network);
            ZooKeeperServer.Builder node = ZooKeeperServer.builder()
                    .member(i + 1)
                    .option("initLimit", "100")
                    // How long a leader and a follower may be silent, in ticks: 3 s.
                    .option("syncLimit", "30");
            for (int j = 0; j < SIZE; j++) {
                int quorumPort = quorumPorts.get(j);
                if (i != j) {
                    FaultProxy proxy = FaultProxy.to(quorumPort, LEADER_MAY_TAKE);
                    network.add(proxy);
                    quorumPort = proxy.port();
                }
                node.option("server." + (j + 1), "127.0.0.1:" + quorumPort + ":" + electionPorts.get(j));
            }
            setting.accept(node);
            nodes.add(node.launch());
        }
    }

    private static List<Integer> ports() {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            ports.add(Ports.free());
        }
        return ports;
    }

    /** Waits until all running nodes serve, and one of them leads. */
    public void awaitService() {
        nodes.stream()
                .filter(node -> node.process().isAlive() && !node.process().isPaused())
                .forEach(ZooKeeperServer::awaitService);
        Until.await("a node leads", () -> findLeader() != null);
    }

    @Override
    public List<ZooKeeperServer> members() {
        return List.copyOf(nodes);
    }

    /** The connect string of all nodes for clients of ZooKeeper. */
    public String connectString() {
        return nodes.stream().map(ZooKeeperServer::connectString).collect(Collectors.joining(","));
    }

    @Override
    public ZooKeeperServer leader() {
        Until.await("a node leads", () -> findLeader() != null);
        ZooKeeperServer leader = findLeader();
        return leader == null ? leader() : leader;
    }

    private @Nullable ZooKeeperServer findLeader() {
        return nodes.stream()
                .filter(node -> node.mode().equals("leader"))
                .findFirst()
                .orElse(null);
    }

    /** The nodes that follow. */
    public List<ZooKeeperServer> followers() {
        ZooKeeperServer leader = leader();
        return nodes.stream().filter(node -> node != leader).toList();
    }

    /** {@inheritDoc} Elections still work, but an elected node can't lead. */
    @Override
    public void swallow(ZooKeeperServer node, Set<Direction> ways) {
        int own = nodes.indexOf(node);
        for (Direction way : ways) {
            Direction back = way == Direction.TO_SERVER ? Direction.TO_CLIENT : Direction.TO_SERVER;
            for (int other = 0; other < SIZE; other++) {
                if (other != own) {
                    network(other, own).swallow(way);
                    network(own, other).swallow(back);
                }
            }
        }
    }

    /** The network from a node to another. */
    private FaultProxy network(int from, int to) {
        return networks.get(from).get(to < from ? to : to - 1);
    }

    @Override
    public void heal() {
        networks.forEach(network -> network.forEach(FaultProxy::heal));
    }

    @Override
    public void replace(ZooKeeperServer node) {
        node.kill();
        node.deleteData();
        node.restart();
    }

    @Override
    public void restore() {
        heal();
        nodes.stream()
                .filter(node -> !node.process().isAlive() || node.process().isDiskFull())
                .forEach(ZooKeeperServer::relaunch);
        awaitService();
    }

    /** Restarts a stopped node with its data, and returns when it serves. */
    public void restart(ZooKeeperServer node) {
        node.restart();
    }

    /** Restarts all nodes, running or stopped, with their data, and returns when they serve. */
    public void restart() {
        nodes.forEach(ZooKeeperServer::relaunch);
        awaitService();
    }

    @Override
    public void close() {
        nodes.forEach(ZooKeeperServer::close);
        networks.forEach(network -> network.forEach(FaultProxy::close));
    }
}
