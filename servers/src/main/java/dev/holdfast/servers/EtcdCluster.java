package dev.holdfast.servers;

import dev.holdfast.servers.FaultProxy.Direction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Three etcd servers that elect a leader. Optional networks between them have faults on demand, so that one can be cut
 * off from the others while clients stay connected to it.
 *
 * <p><b>Thread-safety:</b> not thread-safe.
 */
public final class EtcdCluster implements Cluster<EtcdServer> {

    private static final int SIZE = 3;

    /** In milliseconds; long, since a busy machine can stop a member for seconds, which then elects another leader. */
    private static final String HEARTBEAT = "100";

    private static final String ELECTION = "1500";

    private final List<EtcdServer> members = new ArrayList<>();

    /** The network through which the others reach a member; empty if they connect directly. */
    private final List<FaultProxy> networks = new ArrayList<>();

    private EtcdCluster() {}

    /** Starts three servers, and returns when all of them serve. */
    public static EtcdCluster start() {
        return start(member -> {});
    }

    /**
     * Starts three servers, and returns when all of them serve.
     *
     * @param setting changes settings of each server
     */
    public static EtcdCluster start(Consumer<EtcdServer.Builder> setting) {
        return start(setting, false);
    }

    /** Starts three servers that {@link #isolate} can cut off from each other, and returns when all of them serve. */
    public static EtcdCluster startWithNetworks() {
        return startWithNetworks(member -> {});
    }

    /**
     * See {@link #startWithNetworks()}.
     *
     * @param setting changes settings of each server
     */
    public static EtcdCluster startWithNetworks(Consumer<EtcdServer.Builder> setting) {
        return start(setting, true);
    }

    private static EtcdCluster start(Consumer<EtcdServer.Builder> setting, boolean hasNetworks) {
        EtcdCluster cluster = new EtcdCluster();
        try {
            cluster.launch(setting, hasNetworks);
            cluster.awaitService();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private void launch(Consumer<EtcdServer.Builder> setting, boolean hasNetworks) {
        List<String> own = new ArrayList<>();
        List<String> urls = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            int port = Ports.free();
            own.add("http://127.0.0.1:" + port);
            if (hasNetworks) {
                FaultProxy network = FaultProxy.to(port);
                networks.add(network);
                port = network.port();
            }
            urls.add("http://127.0.0.1:" + port);
        }
        for (int i = 0; i < SIZE; i++) {
            EtcdServer.Builder member = EtcdServer.builder()
                    .option("name", name(i))
                    .option("listen-peer-urls", own.get(i))
                    .option("initial-advertise-peer-urls", urls.get(i))
                    .option("initial-cluster", joined(urls))
                    .option("heartbeat-interval", HEARTBEAT)
                    .option("election-timeout", ELECTION);
            setting.accept(member);
            members.add(member.launch());
        }
    }

    private static String joined(List<String> urls) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            all.add(name(i) + "=" + urls.get(i));
        }
        return String.join(",", all);
    }

    private static String name(int member) {
        return "member-" + member;
    }

    @Override
    public List<EtcdServer> members() {
        return List.copyOf(members);
    }

    /** The addresses of all members, joined by commas. */
    public String endpoints() {
        return members.stream().map(EtcdServer::endpoint).collect(Collectors.joining(","));
    }

    /** Waits until all running members serve. */
    public void awaitService() {
        members.stream()
                .filter(member ->
                        member.process().isAlive() && !member.process().isPaused())
                .forEach(EtcdServer::awaitService);
    }

    /** The leader; waits until exactly one member reports that it leads. */
    @Override
    public EtcdServer leader() {
        List<EtcdServer> leaders = new ArrayList<>();
        Until.await("a member leads", () -> {
            leaders.clear();
            members.stream().filter(EtcdServer::isLeader).forEach(leaders::add);
            return leaders.size() == 1;
        });
        return leaders.get(0);
    }

    /** The members that follow. */
    public List<EtcdServer> followers() {
        EtcdServer leader = leader();
        return members.stream().filter(member -> member != leader).toList();
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalStateException if there are no networks between them
     */
    @Override
    public void swallow(EtcdServer member, Set<Direction> ways) {
        if (networks.isEmpty()) {
            throw new IllegalStateException("The members of this cluster reach each other directly");
        }
        // Its requests to others contain its name.
        String sender = "X-Server-From: " + Long.toHexString(member.memberId());
        FaultProxy own = networks.get(members.indexOf(member));
        for (Direction way : ways) {
            own.swallow(way);
            Direction back = way == Direction.TO_SERVER ? Direction.TO_CLIENT : Direction.TO_SERVER;
            networks.stream().filter(network -> network != own).forEach(network -> network.swallow(back, sender));
        }
    }

    @Override
    public void heal() {
        networks.forEach(FaultProxy::heal);
    }

    @Override
    public void replace(EtcdServer member) {
        String id = Long.toUnsignedString(member.memberId());
        String url = "http://127.0.0.1:" + networks.get(members.indexOf(member)).port();
        member.kill();
        EtcdServer leader = leader();
        change(leader, "remove", "{\"ID\": \"" + id + "\"}");
        member.deleteData();
        change(leader, "add", "{\"peerURLs\": [\"" + url + "\"]}");
        member.restartWith("initial-cluster-state", "existing");
    }

    /** Retries, since the leader refuses until it has been connected with the others for some time. */
    private static void change(EtcdServer leader, String how, String what) {
        Until.await("a member is to " + how, () -> {
            try {
                leader.call("/v3/cluster/member/" + how, what);
                return true;
            } catch (IllegalStateException e) {
                return false;
            }
        });
    }

    /** Restarts stopped members, and returns when all running members serve. */
    public void restart() {
        members.stream().filter(member -> !member.process().isAlive()).forEach(EtcdServer::relaunch);
        awaitService();
    }

    @Override
    public void restore() {
        heal();
        restart();
    }

    @Override
    public void close() {
        members.forEach(EtcdServer::close);
        networks.forEach(FaultProxy::close);
    }
}
