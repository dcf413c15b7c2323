package dev.holdfast.store.zookeeper.adapter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of nodes that are there for good, and that somebody deletes. */
@Tag("server")
class LayoutNodesTest {

    private static final ResourceName NAME = new ResourceName("somewhere");

    private static final int LEFTOVERS = Integer.getInteger("holdfast.zookeeper.leftovers", 100);

    private final NodeLayout layout = new NodeLayout("/locks");
    private final ZooKeeperServer server = ZooKeeperServer.start();

    @AfterEach
    void stop() {
        server.close();
    }

    private RegisterAdapter open() {
        return open(Duration.ofMinutes(5));
    }

    private RegisterAdapter open(Duration sessionTimeout) {
        return ZooKeeperAdapter.open(
                new OwnHandle(server.connectString(), sessionTimeout, List.of(), new ZKClientConfig()),
                new ZooKeeperAdapter.Options(
                        layout.root(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Optional.empty(),
                        250_000),
                System::nanoTime,
                System::currentTimeMillis);
    }

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(1, TimeUnit.MINUTES);
    }

    private void delete(String path) throws Exception {
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
            zooKeeper.delete(path, -1);
        }
    }

    @Test
    void parentOfArrivalsThatIsGoneIsNamedAndMadeAnewByOpening() throws Exception {
        String parent = layout.arrivals(NAME);
        try (RegisterAdapter adapter = open()) {
            ClaimRef claim = new ClaimRef(
                    NAME,
                    answer(adapter.openSession(Duration.ofMinutes(1), "alice")).id(),
                    1);
            Arrival arrival = new Arrival(claim, 0, new byte[] {1});
            delete(parent);
            assertThatThrownBy(() -> answer(adapter.announce(arrival, Map.of())))
                    .hasMessageContaining("the node '" + parent + "', which the store created");
            open().close();
            assertThat(answer(adapter.announce(arrival, Map.of()))).contains(0L);
            assertThat(answer(adapter.arrivals(NAME)).waiting()).hasSize(1);
        }
    }

    @Test
    void parentOfRecordsThatIsGoneIsNamedAndMadeAnewByOpening() throws Exception {
        String parent = layout.shard(NAME);
        try (RegisterAdapter adapter = open()) {
            delete(parent);
            assertThatThrownBy(() -> answer(adapter.read(NAME)))
                    .hasMessageContaining("the node '" + parent + "', which the store created");
            open().close();
            assertThat(answer(adapter.read(NAME)).state()).isEmpty();
        }
    }

    private static ConditionalWrite put(RecordVersion expected, String state) {
        return new ConditionalWrite(
                NAME, expected, Optional.of(state.getBytes(UTF_8)), 0, Map.of(), Map.of(), List.of(), List.of());
    }

    private static RecordVersion written(WriteResult result) {
        assertThat(result).isInstanceOf(WriteResult.Written.class);
        return ((WriteResult.Written) result).version();
    }

    @Test
    void recordThatIsMadeAgainAfterItWasDeletedByHandHasNoVersionOfBefore() throws Exception {
        try (RegisterAdapter alice = open();
                RegisterAdapter bob = open()) {
            RecordVersion missing = answer(alice.read(NAME)).version();
            RecordVersion first = written(answer(alice.write(put(missing, "alice's"))));
            try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
                ZKUtil.deleteRecursive(zooKeeper, layout.record(NAME));
            }
            RecordVersion second = written(answer(bob.write(put(missing, "bob's"))));
            assertThat(second).isNotEqualTo(first);
            assertThat(answer(alice.write(put(first, "late"))))
                    .isInstanceOfSatisfying(
                            WriteResult.Refused.class,
                            refused -> assertThat(refused.isConflict()).isTrue());
            assertThat(new String(answer(alice.read(NAME)).state().orElseThrow(), UTF_8))
                    .isEqualTo("bob's");
        }
    }

    @Test
    void recordWhoseGuardIsDeletedByHandCanBeWrittenAndRemoved() throws Exception {
        try (RegisterAdapter adapter = open()) {
            RecordVersion version =
                    written(answer(adapter.write(put(answer(adapter.read(NAME)).version(), "first"))));
            delete(NodeLayout.guard(layout.record(NAME), version.incarnation()));
            version = written(answer(adapter.write(put(version, "second"))));
            version = written(answer(adapter.write(put(version, "third"))));
            delete(NodeLayout.guard(layout.record(NAME), version.incarnation()));
            ConditionalWrite removal =
                    new ConditionalWrite(NAME, version, Optional.empty(), 0, Map.of(), Map.of(), List.of(), List.of());
            assertThat(answer(adapter.write(removal))).isInstanceOf(WriteResult.Written.class);
            assertThat(answer(adapter.read(NAME)).state()).isEmpty();
        }
    }

    /** What hangs on sessions. */
    private long helpers() throws Exception {
        try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
            long count = 0;
            for (int shard = 0; shard < NodeLayout.SESSION_SHARDS; shard++) {
                count += zooKeeper.getChildren(layout.helpers(shard), false).size();
            }
            return count;
        }
    }

    @Test
    void nothingIsLeftOfAClientThatWasClosed() throws Exception {
        for (int i = 0; i < 20; i++) {
            try (RegisterAdapter adapter = open()) {
                OpenedSession session = answer(adapter.openSession(Duration.ofMinutes(1), "alice"));
                var unused = answer(adapter.closeSession(session.id()).thenApply(closed -> true));
            }
        }
        assertThat(helpers()).isZero();
    }

    @Test
    @MostlyWaits
    void turnsToCleanUpRemoveWhatDeadClientsLeft() throws Exception {
        Set<SessionId> dead = new HashSet<>();
        try (RegisterAdapter dying = open(Duration.ofSeconds(15))) {
            for (int i = 0; i < 20; i++) {
                dead.add(answer(dying.openSession(Duration.ofSeconds(10), "alice"))
                        .id());
            }
        }
        try (RegisterAdapter adapter = open()) {
            SessionId living =
                    answer(adapter.openSession(Duration.ofMinutes(1), "bob")).id();
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
            while (helpers() > 1) {
                assertThat(System.nanoTime() - deadline)
                        .as("what is left is removed in time")
                        .isNegative();
                assertThat(answer(adapter.takeTurn(Duration.ZERO))).isPresent();
            }
            assertThat(answer(adapter.sessions(dead))).isEmpty();
            assertThat(answer(adapter.sessions(Set.of(living)))).hasSize(1);
            assertThat(answer(adapter.claims(living, Optional.empty(), 10))).isPresent();
        }
    }

    @Test
    void turnsToCleanUpRemoveManyLeftovers() throws Exception {
        try (RegisterAdapter adapter = open()) {
            try (ZooKeeper zooKeeper = new ZooKeeper(server.connectString(), 60_000, event -> {})) {
                for (int i = 0; i < LEFTOVERS; i++) {
                    SessionId dead = new SessionId(String.format(Locale.ROOT, "1-%032x", i));
                    zooKeeper.multi(layout.helperNodes(dead).stream()
                            .map(path ->
                                    Op.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT))
                            .toList());
                }
            }
            assertThat(helpers()).isEqualTo(LEFTOVERS);
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
            while (helpers() > 0) {
                assertThat(System.nanoTime() - deadline)
                        .as("what is left is removed in time")
                        .isNegative();
                assertThat(answer(adapter.takeTurn(Duration.ZERO))).isPresent();
            }
        }
    }
}
