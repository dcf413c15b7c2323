package dev.holdfast.store.etcd;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.store.register.DistantClientTrial;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@NeedsEtcd
class EtcdDistantClientTest {

    @Test
    @DisplayName("A client 10 ms away takes its turn beside others that are near")
    void distant() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                FaultProxy network = FaultProxy.to(server.port());
                Holdfast one = strict(server.endpoint());
                Holdfast two = strict(server.endpoint());
                Holdfast distant = strict("127.0.0.1:" + network.port())) {
            DistantClientTrial.run(List.of(one, two), distant, () -> network.delay(Duration.ofMillis(10)));
        }
    }

    private static Holdfast strict(String endpoint) {
        return Holdfast.builder("etcd://" + endpoint + "?timeout=PT30S&connectTimeout=PT1M")
                .sessionTtl(Duration.ofMinutes(5))
                .cohortBudget(Duration.ZERO)
                .build();
    }
}
