package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.FaultProxy.Direction;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
@NeedsEtcd
class EtcdServerTest {

    private static final String PUT = "{\"key\": \"YQ==\", \"value\": \"MQ==\"}";
    private static final String GET = "{\"key\": \"YQ==\"}";

    @Test
    void keepsItsDataWhenItIsKilled() {
        try (EtcdServer server = EtcdServer.start()) {
            server.call("/v3/kv/put", PUT);
            server.kill();
            assertThat(server.isLeader()).isFalse();
            server.restart();
            assertThat(server.call("/v3/kv/range", GET)).contains("\"value\":\"MQ==\"");
            assertThat(server.isLeader()).isTrue();
            assertThatThrownBy(() -> server.call("/v3/lease/revoke", "{\"ID\": 1}"))
                    .hasMessageContaining("lease not found");
        }
    }

    @Test
    void electsAnotherLeaderWhenOneDiesOrStands() {
        try (EtcdCluster cluster = EtcdCluster.start()) {
            EtcdServer first = cluster.leader();
            first.call("/v3/kv/put", PUT);
            first.kill();
            EtcdServer second = cluster.leader();
            assertThat(second).isNotSameAs(first);
            assertThat(second.call("/v3/kv/range", GET)).contains("\"value\":\"MQ==\"");

            first.restart();
            second.process().pause();
            EtcdServer third = cluster.leader();
            assertThat(third).isNotSameAs(second);
            second.process().resume();
            cluster.awaitService();
            assertThat(cluster.followers()).hasSize(2);
        }
    }

    @Test
    void leaderThatHearsNobodyLeadsNoMoreAndMemberIsReplaced() {
        try (EtcdCluster cluster = EtcdCluster.startWithNetworks()) {
            EtcdServer first = cluster.leader();
            first.call("/v3/kv/put", PUT);
            cluster.swallow(first, Set.of(Direction.TO_SERVER));
            Until.await("another leads", () -> cluster.leader() != first);
            cluster.restore();
            EtcdServer follower = cluster.followers().get(0);
            long before = follower.memberId();
            cluster.replace(follower);
            assertThat(follower.memberId()).isNotEqualTo(before);
            assertThat(follower.call("/v3/kv/range", GET)).contains("\"value\":\"MQ==\"");
        }
    }
}
