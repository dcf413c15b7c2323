package dev.holdfast.store.etcd;

import static dev.holdfast.store.etcd.TestStores.until;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.EtcdCluster;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.servers.ServerProcess;
import java.time.Duration;
import java.util.List;
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
        cluster = EtcdCluster.start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    /** A fault, and its end. */
    private interface Fault {
        void happen() throws Exception;
    }

    /** Workers go on before, after and, if it is to be so, during a fault. */
    private static void survive(Fault fault, boolean areServedMeanwhile, Fault end) throws Exception {
        cluster.awaitService();
        try (Holdfast one = TestStores.hasty(cluster.endpoints(), Duration.ofSeconds(20));
                Holdfast two = TestStores.hasty(cluster.endpoints(), Duration.ofSeconds(20));
                Witness witness = new Witness()) {
            witness.employ(one);
            witness.employ(two);
            goesOn(witness);
            fault.happen();
            if (areServedMeanwhile) {
                goesOn(witness);
            }
            end.happen();
            goesOn(witness);
            witness.close();
            witness.judge();
        }
    }

    private static void goesOn(Witness witness) {
        long before = witness.good();
        until("the workers go on", () -> witness.good() > before + 20);
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
