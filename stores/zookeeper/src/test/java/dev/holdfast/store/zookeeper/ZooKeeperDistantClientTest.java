package dev.holdfast.store.zookeeper;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.store.register.DistantClientTrial;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ZooKeeperDistantClientTest {

    @Test
    @DisplayName("A client 10 ms away takes its turn beside others that are near")
    void distant() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                FaultProxy network = FaultProxy.to(server.port());
                Holdfast one = strict(server.connectString());
                Holdfast two = strict(server.connectString());
                Holdfast distant = strict("127.0.0.1:" + network.port())) {
            DistantClientTrial.run(List.of(one, two), distant, () -> network.delay(Duration.ofMillis(10)));
        }
    }

    private static Holdfast strict(String servers) {
        ZooKeeperStore store = Trial.patient(ZooKeeperStore.builder(servers).sessionTimeout(Duration.ofMinutes(1)))
                .requestTimeout(Duration.ofSeconds(30))
                .root(ZooKeeperUnderTest.newRoot())
                .open();
        return Holdfast.builder(store).cohortBudget(Duration.ZERO).build();
    }
}
