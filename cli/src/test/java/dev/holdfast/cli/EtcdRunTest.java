package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commands on an etcd server. */
@Tag("server")
@NeedsEtcd
class EtcdRunTest extends SeparateStoreRuns {

    private static final Installation INSTALLATION = Installation.with("etcd");
    private static final String PATIENT = "timeout=PT30S&connectTimeout=PT1M";

    private static EtcdServer server;

    @BeforeAll
    static void start() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @Override
    String uri() {
        return "etcd://" + server.endpoint() + "/" + directory.getFileName() + "?" + PATIENT;
    }

    @Override
    Installation installation() {
        return INSTALLATION;
    }

    @Test
    void passwordIsNeitherShownNorHandedOn() {
        try (EtcdServer guarded = EtcdServer.start()) {
            guarded.call("/v3/auth/user/add", "{\"name\": \"root\", \"password\": \"s3cret-canary\"}");
            guarded.call("/v3/auth/user/grant", "{\"user\": \"root\", \"role\": \"root\"}");
            guarded.call("/v3/auth/enable", "{}");
            String place = guarded.endpoint() + "?" + PATIENT;
            try (CliProcess run = place("etcd://root:s3cret-canary@" + place).run("run", "x", "--", "env")) {
                assertThat(run.exitCode()).as(run.err()).isZero();
                assertThat(run.out())
                        .contains("HOLDFAST_STORE=etcd://***@127.0.0.1:")
                        .doesNotContain("canary");
            }
            refused("etcd://root:wrong-canary@" + place, 78, "rejects the user name or password");
        }
    }

    @Test
    void troubleIsSaidInALine() {
        refused("etcd://root:canary@127.0.0.1:1", 69, "can't be reached");
        refused("etcd://root:canary@127.0.0.1:1?unknown=1", 64, "'unknown'");
        refused("etcd:localhost", 64, "must have the form etcd://");
        refused(
                "quorum:(memory:a,memory:b," + uri().replace("etcd:", "ETCD:") + ")",
                64,
                "can't be a member of a quorum");
    }
}
