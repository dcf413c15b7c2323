package dev.holdfast.store.zookeeper;

import dev.holdfast.servers.Cluster;
import dev.holdfast.servers.ZooKeeperEnsemble;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.servers.storm.Storm;
import java.util.List;
import java.util.Map;

/** Three ZooKeeper servers, and their clients, under one fault after another. */
class ZooKeeperStormTest extends Storm<ZooKeeperServer> {

    @Override
    protected Cluster<ZooKeeperServer> start() {
        return ZooKeeperEnsemble.start();
    }

    /** Their tick is the longest that servers are set to. */
    @Override
    protected String uri(String members) {
        return "zookeeper://" + members + "?sessionTimeout=PT6S&tickTime=PT0.2S&requestTimeout=PT5S";
    }

    @Override
    protected List<Map.Entry<String, String>> settings() {
        return List.of(
                Map.entry("tickTime", "200"),
                Map.entry("tickTime", "100"),
                Map.entry("maxSessionTimeout", "6000"),
                Map.entry("maxSessionTimeout", "20000"));
    }

    @Override
    protected void fill(Cluster<ZooKeeperServer> cluster, Runnable meanwhile) {
        cluster.leader().process().fillDisk();
        meanwhile.run();
    }
}
