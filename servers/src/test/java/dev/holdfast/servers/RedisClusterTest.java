package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.SlotHash;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class RedisClusterTest {

    @Test
    void movesASlotAndSurvivesItsPrimary() {
        try (RedisCluster cluster = RedisCluster.start()) {
            String key = "a";
            int slot = SlotHash.getSlot(key);
            RedisServer from = cluster.primaries().get(slot * 3 / RedisCluster.SLOTS);
            RedisServer to = cluster.primaries().get((slot * 3 / RedisCluster.SLOTS + 1) % 3);
            from.command("SET", key, "1");
            cluster.move(
                    slot, from, to, () -> assertThat(from.command("GET", key)).containsExactly("1"));
            assertThat(to.command("GET", key)).containsExactly("1");
            assertThatThrownBy(() -> from.command("GET", key))
                    .isInstanceOf(RedisCommandExecutionException.class)
                    .hasMessageStartingWith("MOVED");

            RedisServer heir = cluster.replicas().get(cluster.primaries().indexOf(to));
            assertThat(to.command("WAIT", "1", "20000")).containsExactly(1L);
            cluster.letTakeOver(heir);
            to.kill();
            Until.await("the replica has taken over", () -> heir.info("role").equals("master"));
            Until.await("the cluster serves all slots again", cluster::isOk);
            assertThat(heir.command("GET", key)).containsExactly("1");
        }
    }

    @Test
    void slotThatGoesToAndFroBelongsToOneNode() {
        try (RedisCluster cluster = RedisCluster.start()) {
            RedisServer from = cluster.primaries().get(0);
            RedisServer to = cluster.primaries().get(1);
            for (int i = 0; i < 100; i++) {
                cluster.move(0, from, to, () -> {});
                RedisServer next = from;
                from = to;
                to = next;
            }
            assertThat(cluster.isOk()).isTrue();
        }
    }
}
