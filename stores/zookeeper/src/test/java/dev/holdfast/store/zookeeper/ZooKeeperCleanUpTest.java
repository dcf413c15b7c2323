package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What many claims leave behind. */
@Tag("server")
class ZooKeeperCleanUpTest {

    private static final int DEAD_RECORDS = Integer.getInteger("holdfast.zookeeper.dead.records", 20);
    private static final int WAITERS = Integer.getInteger("holdfast.zookeeper.waiters", 100);
    private static final Duration LONG = Duration.ofMinutes(10);

    private final String root = ZooKeeperUnderTest.newRoot();

    private static SessionId open(ZooKeeperStore store, Duration ttl) throws Exception {
        return ((Reply.SessionOpened) answer(store, new Command.OpenSession(ttl, "one of many"))).session();
    }

    private static Reply answer(ZooKeeperStore store, Command command) throws Exception {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture().get(2, TimeUnit.MINUTES);
    }

    private static Command pairOfPermits(ClaimRef claim) {
        ResourceSpec pair = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);
        return new Command.Acquire(claim, 0, Command.Sending.FIRST, pair, 2, Lease.SESSION, Command.Waiting.QUEUE, 1);
    }

    /** How many records have not been written since their creation. */
    private long untouched(ZooKeeper zooKeeper) {
        try {
            long count = 0;
            for (String shard : zooKeeper.getChildren(root + "/r", false)) {
                for (String name : zooKeeper.getChildren(root + "/r/" + shard, false)) {
                    boolean isDead = name.startsWith("dead-");
                    String path = root + "/r/" + shard + "/" + name;
                    count += isDead && zooKeeper.exists(path, false).getVersion() == 0 ? 1 : 0;
                }
            }
            return count;
        } catch (KeeperException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Whether the last turn began so long ago that the next client gets one. The server has this machine's clock. */
    private boolean isTurnFree(ZooKeeper zooKeeper) {
        try {
            long began = zooKeeper.exists(root + "/turn", false).getMtime();
            return System.currentTimeMillis() - began > Duration.ofSeconds(11).toMillis();
        } catch (KeeperException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    @MostlyWaits
    void claimsOfADeadClientAreDroppedThoughNobodyAsksForThem() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                ZooKeeper raw = new ZooKeeper(server.connectString(), 600_000, event -> {})) {
            ZooKeeperStore.Builder builder = ZooKeeperStore.builder(server.connectString())
                    .connectTimeout(Duration.ofMinutes(1))
                    .sessionTimeout(Duration.ofSeconds(15))
                    .root(root);
            try (ZooKeeperStore dying = builder.open()) {
                SessionId session = open(dying, Duration.ofSeconds(10));
                for (int i = 1; i <= DEAD_RECORDS; i++) {
                    Command acquire = pairOfPermits(new ClaimRef(new ResourceName("dead-" + i), session, i));
                    assertThat(answer(dying, acquire)).isInstanceOf(Reply.Granted.class);
                }
            }
            assertThat(untouched(raw)).isEqualTo(DEAD_RECORDS);
            until("no client has the turn", () -> isTurnFree(raw));
            try (ZooKeeperStore visitor = ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                    .root(root)
                    .open()) {
                var unused = open(visitor, LONG);
                until("each record of the dead client was written", () -> untouched(raw) == 0);
            }
        }
    }

    @Test
    void sessionThatHasEndedLeavesNoWatchAtTheServer() throws Exception {
        ZooKeeperServer server = ZooKeeperUnderTest.server();
        try (ZooKeeperStore store = ZooKeeperUnderTest.builder(root).open()) {
            SessionId session = open(store, LONG);
            until("its mail is watched", () -> server.ask("wchp").contains(session.value()));
            assertThat(answer(store, new Command.CloseSession(session))).isEqualTo(new Reply.Done());
            until("nothing of it is watched", () -> !server.ask("wchp").contains(session.value()));
        }
    }

    @Test
    void resizeEndsAllWaitersThatAreTooHeavy() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                ZooKeeperStore store = ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                        .root(root)
                        .open()) {
            ResourceName name = new ResourceName("crowd");
            List<ClaimRef> claims = new ArrayList<>();
            for (int i = 0; i <= WAITERS; i++) {
                claims.add(new ClaimRef(name, open(store, LONG), 1));
                assertThat(answer(store, pairOfPermits(claims.get(i))))
                        .isInstanceOf(i == 0 ? Reply.Granted.class : Reply.Queued.class);
            }
            ClaimRef holder = claims.remove(0);
            assertThat(answer(store, new Command.Resize(name, holder.session(), 0, 1)))
                    .isEqualTo(new Reply.Done());
            assertThat(((Reply.Polled) answer(store, new Command.Poll(claims))).states())
                    .containsOnly(new Reply.Absent());
            for (ClaimRef claim : claims) {
                Reply.Audited audited =
                        (Reply.Audited) answer(store, new Command.Audit(claim.session(), Optional.empty(), 10));
                assertThat(audited.waiting()).isEmpty();
            }
        }
    }
}
