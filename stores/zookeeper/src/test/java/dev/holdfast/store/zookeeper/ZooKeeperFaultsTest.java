package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.servers.ZooKeeperEnsemble;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.servers.sql.ChildProcess;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.store.register.DeadHolder;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of locks when servers, the network between them, or clients fail. */
@Tag("server")
class ZooKeeperFaultsTest {

    private static final int ATTEMPTS = 1_000;

    @SuppressWarnings("NullAway.Init")
    private static ZooKeeperEnsemble ensemble;

    private final String root = ZooKeeperUnderTest.newRoot();

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.start();
    }

    @AfterAll
    static void end() {
        ensemble.close();
    }

    @BeforeEach
    void restore() {
        ensemble.restore();
    }

    private Holdfast client(String servers) {
        return Trial.client(Trial.store(servers, root));
    }

    @Test
    void goesOnWhenTheLeaderIsKilled() throws Exception {
        try (Trial trial = new Trial(ensemble.connectString(), root)) {
            trial.awaitVisits();
            ZooKeeperServer leader = ensemble.leader();
            leader.kill();
            trial.awaitVisits();
            ensemble.restart(leader);
            trial.awaitVisits();
        }
    }

    @Test
    void goesOnWhenTheLeaderStandsStill() throws Exception {
        try (Trial trial = new Trial(ensemble.connectString(), root)) {
            trial.awaitVisits();
            ZooKeeperServer leader = ensemble.leader();
            leader.process().pause();
            try {
                trial.awaitVisits();
            } finally {
                leader.process().resume();
            }
            trial.awaitVisits();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void goesOnWhenTheDiskOfTheLeaderIsFull() throws Exception {
        try (Trial trial = new Trial(ensemble.connectString(), root)) {
            trial.awaitVisits();
            ZooKeeperServer leader = ensemble.leader();
            leader.process().fillDisk();
            trial.awaitVisits();
            assertThat(leader.mode()).isNotEqualTo("leader");
            ensemble.restart(leader);
            trial.awaitVisits();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void nobodyHasAnythingWhileAllDisksAreFullAndAllGoesOnWhenThereIsRoom() throws Exception {
        try (Holdfast first = client(ensemble.connectString());
                Holdfast second = client(ensemble.connectString())) {
            Hold hold = first.lock("full").acquire();
            long token = hold.fencingToken();
            ensemble.members().forEach(node -> node.process().fillDisk());
            assertThatThrownBy(() -> second.lock("full").acquire(Duration.ofSeconds(1)))
                    .isInstanceOf(HoldfastException.class);
            until("the hold is lost", () -> !hold.isHeld());
            assertThatThrownBy(() -> second.lock("full").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("ZooKeeper");
            ensemble.restart();
            until("the client is connected again", () -> Trial.canAcquireAbove(token, second, "full"));
        }
    }

    @Test
    void holderBehindAFollowerThatIsCutOffLosesTheLockBeforeAnotherHasIt() throws Exception {
        ZooKeeperServer follower = ensemble.followers().get(0);
        String others = ensemble.leader().connectString();
        try (Holdfast behind = client(follower.connectString());
                Holdfast before = client(others)) {
            Hold hold = behind.lock("cut off").acquire();
            long token = hold.fencingToken();
            ensemble.isolate(follower);
            // Its pings are answered for some time, and its reads too.
            try (Hold next = before.lock("cut off").acquire(Duration.ofMinutes(1))) {
                assertThat(hold.isHeld()).isFalse();
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
            ensemble.heal();
            until("the client is used again", () -> Trial.canAcquire(behind, "after"));
        }
    }

    @Test
    void holderLearnsThatItsSessionHasExpired() throws Exception {
        OwnHandle handle = new OwnHandle(ensemble.connectString(), Trial.TIMEOUT, List.of(), new ZKClientConfig());
        try (Holdfast victim = Trial.client(
                        Trial.patient(ZooKeeperStore.lent(handle)).root(root).open());
                Holdfast other = client(ensemble.connectString())) {
            Hold hold = victim.lock("expired").acquire();
            long token = hold.fencingToken();
            AtomicBoolean isTold = new AtomicBoolean();
            hold.onLost(loss -> isTold.set(true));
            expire(handle.handle());
            until("the loss is told", isTold::get);
            assertThat(hold.isHeld()).isFalse();
            try (Hold next = other.lock("expired").acquire(Duration.ofMinutes(1))) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
            until("the client is used again", () -> Trial.canAcquire(victim, "after"));
        }
    }

    /** Takes the session over and closes it, as servers do when it expires. */
    private static void expire(ZooKeeper handle) throws Exception {
        try (ZooKeeper thief = new ZooKeeper(
                ensemble.connectString(), 30_000, event -> {}, handle.getSessionId(), handle.getSessionPasswd())) {
            until("the session is taken over", () -> thief.getState().isConnected());
        }
    }

    @Test
    void holderThatStoodStillIsKeptOutByTheFence(@TempDir Path directory) throws Exception {
        Path settings = Files.writeString(directory.resolve("settings"), ensemble.connectString() + "\n" + root);
        try (ChildProcess child = new ChildProcess(FencedWriter.class, settings);
                Holdfast other = client(ensemble.connectString());
                ZooKeeper zooKeeper = new ZooKeeper(ensemble.connectString(), 30_000, event -> {})) {
            assertThat(child.ask("acquire")).isEqualTo("acquired");
            assertThat(child.ask("write")).isEqualTo("written");
            child.pause();
            try (Hold hold = other.lock("fenced").acquire(Duration.ofMinutes(1))) {
                FencedWriter.write(zooKeeper, root, hold.fencingToken(), hold.holdId());
                child.resume();
                assertThat(child.ask("write")).startsWith("refused");
            }
        }
    }

    @Test
    void deadHolderIsNoticedBehindManyPermitsOfAnother() throws Exception {
        String servers = ensemble.connectString();
        try (ZooKeeperStore living = ZooKeeperUnderTest.patient(ZooKeeperStore.builder(servers))
                        .root(root)
                        .open();
                ZooKeeperStore waiting = ZooKeeperUnderTest.patient(ZooKeeperStore.builder(servers))
                        .root(root)
                        .open()) {
            DeadHolder.isNoticed(living, waiting, Trial.store(servers, root), 2, 9, () -> {});
        }
    }

    @Test
    void nobodyHasAnythingWithoutAMajorityAndAllGoesOnWithIt() throws Exception {
        try (Holdfast first = client(ensemble.connectString());
                Holdfast second = client(ensemble.connectString())) {
            Hold hold = first.lock("majority").acquire();
            long token = hold.fencingToken();
            List<ZooKeeperServer> lost = ensemble.followers();
            lost.forEach(ZooKeeperServer::kill);
            assertThatThrownBy(() -> second.lock("majority").acquire(Duration.ofSeconds(1)))
                    .isInstanceOf(HoldfastException.class);
            until("the hold is lost", () -> !hold.isHeld());
            lost.forEach(ensemble::restart);
            ensemble.awaitService();
            until("the client is connected again", () -> Trial.canAcquireAbove(token, second, "majority"));
        }
    }

    @Test
    void sessionsThatWereRefusedDuringAnOutageCostTheServerNothingAfterIt() {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                ZooKeeperStore store = Trial.store(server.connectString(), root)) {
            server.kill();
            until("an attempt is refused", () -> failureOfOpening(store).equals(Optional.of(Effect.NONE)));
            for (int i = 0; i < ATTEMPTS; i++) {
                assertThat(failureOfOpening(store)).contains(Effect.NONE);
            }
            server.restart();
            until("a session is opened", () -> failureOfOpening(store).isEmpty());
            // What a client sends when it is connected arrives before what it sends after an answer.
            assertThat(failureOfOpening(store)).isEmpty();
            assertThat(server.requests()).isLessThan(ATTEMPTS / 2);
        }
    }

    /** What an attempt to open a session may have done that failed; empty if it did not fail. */
    private static Optional<Effect> failureOfOpening(ZooKeeperStore store) {
        CompletionStage<Reply> attempt =
                store.execute(new Command.OpenSession(Duration.ofSeconds(4), "refused"), CallerMode.ASYNC);
        return attempt.handle((reply, failure) -> Optional.ofNullable(failure)
                        .map(thrown -> thrown instanceof CompletionException ? thrown.getCause() : thrown)
                        .map(thrown -> ((StoreException) thrown).effect()))
                .toCompletableFuture()
                .join();
    }
}
