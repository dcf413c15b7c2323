package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.ZooKeeperServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commands on a ZooKeeper server. */
@Tag("server")
class ZooKeeperRunTest extends SeparateStoreRuns {

    private static final Installation INSTALLATION = Installation.with("zookeeper");

    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Override
    String uri() {
        return at("", "");
    }

    private String at(String user, String parameters) {
        return "zookeeper://" + user + server.connectString() + "/" + directory.getFileName()
                + "?connectTimeout=PT1M&requestTimeout=PT30S" + parameters;
    }

    @Override
    Installation installation() {
        return INSTALLATION;
    }

    @Test
    void passwordIsNeitherShownNorHandedOn() {
        try (CliProcess run = place(at("locks:s3cret-canary@", "&acl=creator")).run("run", "x", "--", "env")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(run.out())
                    .contains("HOLDFAST_STORE=zookeeper://***@127.0.0.1:")
                    .doesNotContain("canary");
        }
        refused(at("locks:wrong-canary@", "&acl=creator"), 78, "no access");
    }

    @Test
    void troubleIsSaidInALine() {
        refused("zookeeper://locks:canary@127.0.0.1:1?connectTimeout=PT0.5S", 69, "can't be reached");
        refused("zookeeper://locks:canary@127.0.0.1:1?unknown=1", 64, "'unknown'");
        refused("zookeeper:localhost", 64, "must have the form zookeeper://");
        try (RedisServer redis = RedisServer.start()) {
            refused("zookeeper://127.0.0.1:" + redis.port(), 78, "is not a ZooKeeper server");
        }
    }

    @Test
    void leaseThatTheServersDoNotGrantIsRefused() {
        try (CliProcess run = place(uri()).run("run", "--lease", "10m", "x", "--", "touch", "ran")) {
            assertThat(run.exitCode()).as(run.err()).isEqualTo(64);
            assertThat(run.err())
                    .contains("--lease 10m", "the longest session of ZooKeeper")
                    .doesNotContain("Exception")
                    .hasLineCount(1);
        }
    }

    @Test
    void asMembersOfAQuorum() {
        String members = String.join(",", at("", "&root=/a"), at("", "&root=/b"), at("", "&root=/c"));
        Place place = place("quorum:(" + members + ")");
        try (CliProcess run = place.run("run", "x", "--", "sh", "-c", "echo $HOLDFAST_TOKEN")) {
            assertThat(run.exitCode()).as(run.err()).isZero();
            assertThat(Long.parseLong(run.out().strip())).isPositive();
        }
        CliProcess.until("all members answer in time", () -> {
            try (CliProcess all = place.run("members")) {
                return all.exitCode() == 0 && all.out().lines().count() == 3;
            }
        });
    }
}
