package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.servers.Certificates;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections with TLS, and the explanations of those that can't be made. */
@Tag("server")
class RedisTlsTest {

    @SuppressWarnings("NullAway.Init")
    private static Certificates certificates;

    @SuppressWarnings("NullAway.Init")
    private static RedisServer server;

    @BeforeAll
    static void start() {
        certificates = Certificates.make();
        server = with(certificates.server());
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static RedisServer with(Certificates.Pair pair) {
        return RedisServer.builder().tls(pair, null).start();
    }

    private static String uri(RedisServer to) {
        return "rediss://localhost:" + to.tlsPort();
    }

    private static String trusting(Path authority) {
        return "?connectTimeout=PT1M&ca=" + authority;
    }

    private static void opens(String uri) {
        try (RedisStore store = RedisUris.builder(StoreUri.parse(uri)).open()) {
            assertThat(session(store, Duration.ofMinutes(1))).isNotNull();
        }
    }

    private static void refused(Reason reason, String uri, String... words) {
        Throwable thrown =
                catchThrowable(() -> RedisUris.builder(StoreUri.parse(uri)).open());
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        StoreException.class,
                        e -> assertThat(e.reason()).as("%s", e).isEqualTo(reason))
                .hasMessageContainingAll(words);
    }

    @Test
    void serverIsTrustedByItsAuthority() {
        opens(uri(server) + trusting(certificates.authority()));
        opens("rediss://127.0.0.1:" + server.tlsPort() + trusting(certificates.authority()));
    }

    @Test
    void authorityThatIsNotKnown() {
        refused(Reason.DENIED, uri(server), "certificate", "localhost:" + server.tlsPort());
        refused(Reason.DENIED, uri(server) + trusting(certificates.stranger()), "certificate");
        opens(uri(server) + "?verify=none");
    }

    @Test
    void certificateOfAnotherHost() {
        try (RedisServer elsewhere = with(certificates.elsewhere())) {
            refused(Reason.DENIED, uri(elsewhere) + trusting(certificates.authority()), "certificate", "localhost");
            opens(uri(elsewhere) + trusting(certificates.authority()) + "&verify=ca");
        }
    }

    @Test
    void certificateThatIsOver() {
        try (RedisServer expired = with(certificates.expired())) {
            refused(Reason.DENIED, uri(expired) + trusting(certificates.authority()), "certificate");
            refused(Reason.DENIED, uri(expired) + trusting(certificates.authority()) + "&verify=ca", "certificate");
        }
    }

    @Test
    void clientThatMustShowACertificate() {
        Path authority = certificates.authority();
        try (RedisServer strict =
                RedisServer.builder().tls(certificates.server(), authority).start()) {
            Certificates.Pair client = certificates.client();
            opens(uri(strict) + trusting(authority) + "&clientCertificate=" + client.certificate() + "&clientKey="
                    + client.key());
            refused(Reason.DENIED, uri(strict) + trusting(authority), "certificate");
        }
    }

    @Test
    void secureToAPlainPort() {
        refused(
                Reason.UNAVAILABLE,
                "rediss://localhost:" + server.port() + "?ca=" + certificates.authority() + "&connectTimeout=PT6S",
                "TLS");
    }

    @Test
    void plainToASecurePort() {
        refused(Reason.UNAVAILABLE, "redis://localhost:" + server.tlsPort() + "?connectTimeout=PT30S", "TLS");
    }

    @Test
    void fileThatIsNoCertificate() {
        refused(Reason.DENIED, uri(server) + "?ca=" + certificates.server().key(), "certificate");
    }
}
