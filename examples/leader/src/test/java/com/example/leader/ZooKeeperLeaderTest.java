package com.example.leader;

import dev.holdfast.servers.ZooKeeperServer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Processes that elect a leader on ZooKeeper")
@Tag("server")
@Tag("process")
class ZooKeeperLeaderTest {

    @Test
    @DisplayName("elect the next when it is killed and when it ends, in terms that rise")
    void failOver() {
        try (ZooKeeperServer zookeeper = ZooKeeperServer.start()) {
            FailOver.plays("zookeeper://" + zookeeper.connectString() + "?sessionTimeout=PT9S");
        }
    }
}
