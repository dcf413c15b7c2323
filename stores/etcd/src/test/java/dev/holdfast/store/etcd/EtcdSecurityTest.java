package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.Certificates;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Users and certificates. */
@Tag("server")
@NeedsEtcd
class EtcdSecurityTest {

    private static final String PATIENT = "timeout=PT30S&connectTimeout=PT1M";

    /** A server that knows the root and the user of the manual. */
    private static EtcdServer serverWithUsers() {
        EtcdServer server = EtcdServer.start();
        introduceUsers(server);
        return server;
    }

    private static void introduceUsers(EtcdServer server) {
        server.call("/v3/auth/user/add", "{\"name\": \"root\", \"password\": \"root-secret\"}");
        server.call("/v3/auth/user/grant", "{\"user\": \"root\", \"role\": \"root\"}");
        server.call("/v3/auth/role/add", "{\"name\": \"locks\"}");
        server.call(
                "/v3/auth/role/grant",
                "{\"name\": \"locks\", \"perm\": {\"permType\": \"READWRITE\", \"key\": \"" + encoded("shop/")
                        + "\", \"range_end\": \"" + encoded("shop0") + "\"}}");
        server.call("/v3/auth/user/add", "{\"name\": \"locks\", \"password\": \"change-me\"}");
        server.call("/v3/auth/user/grant", "{\"user\": \"locks\", \"role\": \"locks\"}");
        server.call("/v3/auth/enable", "{}");
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void userOfTheManualMayDoWhatLocksNeedAndNoMore() throws Exception {
        try (EtcdServer server = serverWithUsers();
                Holdfast one = Holdfast.connect("etcd://locks:change-me@" + server.endpoint() + "/shop?" + PATIENT);
                Holdfast two = Holdfast.connect("etcd://locks:change-me@" + server.endpoint() + "/shop?" + PATIENT)) {
            Hold hold = one.lock("ledger").acquire(Duration.ofMinutes(1));
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            hold.close();
            waiting.get(1, TimeUnit.MINUTES).close();

            refused("etcd://locks:change-me@" + server.endpoint() + "/other?" + PATIENT, "permission denied");
            refused("etcd://locks:wrong-canary@" + server.endpoint() + "/shop?" + PATIENT, "user name or password");
            refused("etcd://" + server.endpoint() + "/shop?" + PATIENT, "user name or password");
        }
    }

    /** Simple tokens are in the memory of a server, so one that was restarted knows none. */
    @Test
    void tokenThatIsNotValidAnyMoreIsReplaced() throws Exception {
        AtomicReference<String> password = new AtomicReference<>("change-me");
        try (EtcdServer server = serverWithUsers();
                EtcdStore store = TestStores.at(server.endpoint())
                        .namespace("shop")
                        .user("locks", () -> password.get().toCharArray())
                        .open();
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(Duration.ofMinutes(5))
                        .build()) {
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
            server.kill();
            server.restart();
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
            client.lock("another").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void serverThatKnowsNoUsersTakesAnybody() throws Exception {
        String endpoint = EtcdUnderTest.server().endpoint();
        try (Holdfast client = Holdfast.connect("etcd://locks:change-me@" + endpoint + "/anybody?" + PATIENT)) {
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void usersThatAreIntroducedLaterAreKnown() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Holdfast client =
                        Holdfast.connect("etcd://locks:change-me@" + server.endpoint() + "/shop?" + PATIENT)) {
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
            introduceUsers(server);
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void certificates() throws Exception {
        Certificates all = Certificates.make();
        try (EtcdServer server = EtcdServer.builder().tls(all).start()) {
            String uri = "etcds://localhost:" + server.port() + "/tls?timeout=PT20S&connectTimeout=PT20S";
            String trusting = "&ca=" + all.authority();
            String showing = "&clientCertificate=" + all.client().certificate() + "&clientKey="
                    + all.client().key();
            try (Holdfast client = Holdfast.connect(uri + trusting + showing)) {
                client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
            }
            refused(uri + "&ca=" + all.stranger() + showing, "TLS");
            refused(uri + showing, "TLS");
            assertThatThrownBy(() ->
                            EtcdUris.builder(StoreUri.parse(uri + trusting)).open())
                    .isInstanceOf(StoreException.class);
            assertThatThrownBy(() ->
                            EtcdStore.builder("localhost:" + server.port()).open())
                    .isInstanceOf(StoreException.class)
                    .hasMessageContaining("Use 'etcds:' for a server with TLS");
        }
    }

    @Test
    void schemeOfTlsAtAPlainPortIsNamed() {
        String uri = "etcds://" + EtcdUnderTest.server().endpoint() + "?" + PATIENT;
        assertThatThrownBy(() -> EtcdUris.builder(StoreUri.parse(uri)).open())
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("'etcd:' for one without")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("Pipeline", "\n"));
    }

    private static void refused(String uri, String words) {
        assertThatThrownBy(() -> EtcdUris.builder(StoreUri.parse(uri)).open())
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DENIED))
                .hasMessageContaining(words)
                .satisfies(e -> assertThat(e.toString()).doesNotContain("canary"));
    }
}
