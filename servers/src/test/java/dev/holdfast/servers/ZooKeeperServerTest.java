package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.FaultProxy.Direction;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ZooKeeperServerTest {

    @Test
    void servesAgainAfterItWasKilled() {
        try (ZooKeeperServer server = ZooKeeperServer.start()) {
            assertThat(server.mode()).isEqualTo("standalone");
            server.kill();
            assertThat(server.mode()).isEmpty();
            server.restart();
            assertThat(server.mode()).isEqualTo("standalone");
        }
    }

    @Test
    void aServerThatCantStartSaysWhy() {
        assertThatThrownBy(() -> {
                    ZooKeeperServer.Builder builder = ZooKeeperServer.builder();
                    builder.option("tickTime", "nonsense");
                    builder.start();
                })
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nonsense");
    }

    @Test
    void ensembleGoesOnWithoutItsLeader() {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            ZooKeeperServer first = ensemble.leader();
            List<ZooKeeperServer> followers = ensemble.followers();
            assertThat(followers).hasSize(2);
            first.kill();
            Until.await("another leads", () -> followers.contains(ensemble.leader()));
            ensemble.restart(first);
            Until.await("it follows", () -> first.mode().equals("follower"));
        }
    }

    @Test
    void followerWithoutItsLeaderServesNoMore() {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            ZooKeeperServer follower = ensemble.followers().get(0);
            ensemble.isolate(follower);
            Until.await("it has given its leader up", () -> follower.mode().isEmpty());
            ensemble.heal();
            ensemble.awaitService();
            assertThat(follower.mode()).isNotEmpty();
        }
    }

    @Test
    void leaderThatHearsNobodyLeadsNoMoreAndFollowerIsReplaced() {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            ZooKeeperServer first = ensemble.leader();
            ensemble.swallow(first, Set.of(Direction.TO_SERVER));
            Until.await("it has given up leading", () -> !first.mode().equals("leader"));
            ensemble.restore();
            ZooKeeperServer follower = ensemble.followers().get(0);
            int nodes = follower.nodes();
            ensemble.replace(follower);
            assertThat(follower.mode()).isEqualTo("follower");
            assertThat(follower.nodes()).isEqualTo(nodes);
        }
    }
}
