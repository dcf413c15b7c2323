package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ZooKeeperFenceTest {

    private ZooKeeper zooKeeper;
    private String guarded;
    private ZooKeeperFence fence;

    @BeforeEach
    void connect() throws Exception {
        zooKeeper = new ZooKeeper(ZooKeeperUnderTest.server().connectString(), 60_000, event -> {});
        guarded = create("/guarded-", CreateMode.PERSISTENT_SEQUENTIAL);
        fence = ZooKeeperFence.at(guarded + "/fence");
    }

    @AfterEach
    void disconnect() throws InterruptedException {
        zooKeeper.close();
    }

    @CanIgnoreReturnValue
    private String create(String path, CreateMode mode) throws Exception {
        return zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
    }

    private void write(Op check, String text) throws Exception {
        zooKeeper.multi(List.of(check, Op.setData(guarded, text.getBytes(StandardCharsets.UTF_8), -1)));
    }

    private String text() throws Exception {
        return new String(zooKeeper.getData(guarded, false, null), StandardCharsets.UTF_8);
    }

    @Test
    void holdersOfALockWriteOneAfterAnother() throws Exception {
        try (Holdfast holdfast = Holdfast.builder(
                        ZooKeeperUnderTest.builder(ZooKeeperUnderTest.newRoot()).open())
                .build()) {
            for (int i = 0; i < 3; i++) {
                try (Hold hold = holdfast.lock("guarded").acquire()) {
                    write(fence.check(zooKeeper, hold), "first " + i);
                    write(fence.check(zooKeeper, hold), "second " + i);
                    assertThat(text()).isEqualTo("second " + i);
                }
            }
        }
    }

    @Test
    void anEarlierHolderIsRefused() throws Exception {
        Op early = fence.check(zooKeeper, 7, "early");
        write(fence.check(zooKeeper, 9, "late"), "late");
        assertThatThrownBy(() -> write(early, "early")).isInstanceOf(KeeperException.NodeExistsException.class);
        assertThatThrownBy(() -> fence.check(zooKeeper, 7, "early"))
                .isInstanceOfSatisfying(StaleNodeTokenException.class, stale -> {
                    assertThat(stale.token()).isEqualTo(7);
                    assertThat(stale.newest()).isEqualTo(9);
                })
                .hasMessageContaining("token 9 was used before (hold late)");
        assertThatThrownBy(() -> fence.check(zooKeeper, 9, "another")).isInstanceOf(StaleNodeTokenException.class);
        assertThat(text()).isEqualTo("late");
    }

    @Test
    void whatWasCheckedBeforeALaterHolderCameIsRefused() throws Exception {
        write(fence.check(zooKeeper, 7, "early"), "early");
        Op checked = fence.check(zooKeeper, 7, "early");
        write(fence.check(zooKeeper, 9, "late"), "late");
        assertThatThrownBy(() -> write(checked, "too late")).isInstanceOf(KeeperException.BadVersionException.class);
        assertThat(text()).isEqualTo("late");
    }

    @Test
    void aNodeOfSomebodyElseIsNoGuard() throws Exception {
        create(guarded + "/fence", CreateMode.PERSISTENT);
        assertThatThrownBy(() -> fence.check(zooKeeper, 1, "hold"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(guarded + "/fence");
        assertThatThrownBy(() -> fence.check(zooKeeper, 0, "hold")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> fence.check(zooKeeper, 1, "")).isInstanceOf(IllegalArgumentException.class);
    }
}
