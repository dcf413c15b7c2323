package dev.holdfast.store.etcd;

import static dev.holdfast.store.etcd.TestStores.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.servers.EtcdCluster;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.servers.ServerProcess;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two clients that take turns, while members of a cluster of three fail. */
@Tag("server")
@NeedsEtcd
class EtcdClusterFaultsTest {

    private static EtcdCluster cluster;

    @BeforeAll
    static void start() {
        cluster = EtcdCluster.startWithNetworks();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    /** A fault, and its end. */
    private interface Fault {
        void happen() throws Exception;
    }

    /** Checks that workers get turns before and after a fault, and during it if they must be served then. */
    private static void survive(Fault fault, boolean areServedMeanwhile, Fault end) throws Exception {
        cluster.awaitService();
        try (Holdfast one = TestStores.hasty(cluster.endpoints(), Duration.ofSeconds(20));
                Holdfast two = TestStores.hasty(cluster.endpoints(), Duration.ofSeconds(20));
                LockWorkers workers = new LockWorkers()) {
            workers.start(one);
            workers.start(two);
            awaitTurns(workers);
            fault.happen();
            if (areServedMeanwhile) {
                awaitTurns(workers);
            }
            end.happen();
            awaitTurns(workers);
            workers.close();
            workers.verify();
        }
    }

    private static void awaitTurns(LockWorkers workers) {
        long before = workers.validTurns();
        until("the workers go on", () -> workers.validTurns() > before + 20);
    }

    @Test
    void leaderThatDies() throws Exception {
        EtcdServer leader = cluster.leader();
        survive(leader::kill, true, leader::restart);
    }

    @Test
    void leaderThatStandsStill() throws Exception {
        ServerProcess leader = cluster.leader().process();
        survive(leader::pause, true, leader::resume);
    }

    @Test
    void leaderThatIsCutOff() throws Exception {
        EtcdServer leader = cluster.leader();
        survive(() -> cluster.isolate(leader), true, cluster::heal);
    }

    /** For some time its member still believes that it leads. */
    @Test
    void holderBehindALeaderThatIsCutOffLosesTheLockBeforeAnotherHasIt() throws Exception {
        cluster.awaitService();
        EtcdServer leader = cluster.leader();
        String others = cluster.followers().stream().map(EtcdServer::endpoint).collect(Collectors.joining(","));
        try (Holdfast behind = TestStores.hasty(leader.endpoint(), Duration.ofSeconds(8));
                Holdfast before = TestStores.hasty(others, Duration.ofSeconds(8))) {
            Hold hold = behind.lock("cut off").acquire(Duration.ofMinutes(1));
            long token = hold.fencingToken();
            cluster.isolate(leader);
            try {
                try (Hold next = before.lock("cut off").acquire(Duration.ofMinutes(1))) {
                    assertThat(hold.isHeld()).isFalse();
                    assertThat(next.fencingToken()).isGreaterThan(token);
                    assertThat(cluster.leader()).isNotSameAs(leader);
                }
            } finally {
                cluster.heal();
            }
            until("the client is used again", () -> canAcquire(behind, "after"));
        }
    }

    private static boolean canAcquire(Holdfast client, String name) {
        try (Hold hold = client.lock(name).acquire(Duration.ofSeconds(10))) {
            return hold.isHeld();
        } catch (HoldfastException e) {
            return false;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void followersThatStandStillLeaveNoMajority() throws Exception {
        List<ServerProcess> followers =
                cluster.followers().stream().map(EtcdServer::process).toList();
        survive(() -> followers.forEach(ServerProcess::pause), false, () -> followers.forEach(ServerProcess::resume));
    }

    @Test
    void allMembersThatAreRestarted() throws Exception {
        survive(
                () -> {
                    for (EtcdServer member : cluster.members()) {
                        member.kill();
                    }
                },
                false,
                cluster::restart);
    }
}
