package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.Certificates;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.SlowMachine;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreUri;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores on a server that speaks TLS, and demands a certificate of its clients. */
@Tag("server")
class ZooKeeperTlsTest {

    private static final String PATIENT = "?connectTimeout=PT1M&requestTimeout=PT30S";

    private static Certificates all;
    private static ZooKeeperServer server;

    @BeforeAll
    static void start() {
        all = Certificates.make();
        server = ZooKeeperServer.builder().tls(all.server(), all.authority()).start();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    private static String secure(int port, Path authority) {
        return "zookeepers://localhost:" + port + PATIENT + "&ca=" + authority;
    }

    private static String showing(Certificates.Pair own) {
        return "&clientCertificate=" + own.combined();
    }

    private static void expectRefused(String uri, Reason reason, String... words) {
        assertThatThrownBy(() -> ZooKeeperUris.builder(StoreUri.parse(uri)).open())
                .isInstanceOfSatisfying(
                        StoreException.class,
                        failure -> assertThat(failure.reason())
                                .as(failure.getMessage())
                                .isEqualTo(reason))
                .hasMessageContainingAll(words);
    }

    @Test
    void clientsThatShowCertificatesPassALockOn() throws Exception {
        String uri = secure(server.tlsPort(), all.authority()) + showing(all.client());
        try (Holdfast one = Holdfast.connect(uri);
                Holdfast two = Holdfast.connect(uri)) {
            Hold hold = one.lock("ledger").acquire(Duration.ofMinutes(1));
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            hold.close();
            waiting.get(1, TimeUnit.MINUTES).close();
        }
    }

    @Test
    void goesOnWhenTheConnectionBroke() throws Exception {
        try (FaultProxy network = FaultProxy.to(server.tlsPort());
                Holdfast client = Holdfast.connect(secure(network.port(), all.authority()) + showing(all.client()))) {
            Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1));
            network.reset();
            Trial.until("another lock can be had", () -> Trial.canAcquire(client, "another"));
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }
    }

    @Test
    void builderTakesTheSame() throws Exception {
        ZooKeeperStore store = ZooKeeperUnderTest.patient(ZooKeeperStore.builder("127.0.0.1:" + server.tlsPort()))
                .trust(all.authority())
                .clientCertificate(all.client().combined())
                .open();
        try (Holdfast client = Holdfast.builder(store).build()) {
            client.lock("built").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void propertyOfZooKeeperIsEnough() throws Exception {
        ZooKeeperStore store = ZooKeeperUnderTest.patient(ZooKeeperStore.builder("localhost:" + server.tlsPort()))
                .property(ZKClientConfig.SECURE_CLIENT, "true")
                .property("zookeeper.ssl.trustStore.location", all.authority().toString())
                .property("zookeeper.ssl.trustStore.type", "PEM")
                .property(
                        "zookeeper.ssl.keyStore.location",
                        all.client().combined().toString())
                .open();
        try (Holdfast client = Holdfast.builder(store).build()) {
            client.lock("by property").acquire(Duration.ofMinutes(1)).close();
        }
    }

    /** As servers before 3.9 do. */
    @Test
    void serverThatSpeaksTheOlderVersionAloneIsUnderstood() throws Exception {
        try (ZooKeeperServer older = ZooKeeperServer.builder()
                        .tls(all.server(), all.authority())
                        .option("ssl.protocol", "TLSv1.2")
                        .start();
                Holdfast client = Holdfast.connect(secure(older.tlsPort(), all.authority()) + showing(all.client()))) {
            client.lock("ledger").acquire(Duration.ofMinutes(1)).close();
        }
    }

    @Test
    void authorityThatSignedNothingIsNotBelieved() {
        expectRefused(
                secure(server.tlsPort(), all.stranger()) + showing(all.client()),
                Reason.DENIED,
                "localhost:" + server.tlsPort(),
                "not trusted",
                "'ca'");
    }

    @Test
    void serverThatIsCalledByAnotherNameIsNotBelieved() {
        try (ZooKeeperServer elsewhere =
                ZooKeeperServer.builder().tls(all.elsewhere(), all.authority()).start()) {
            expectRefused(
                    secure(elsewhere.tlsPort(), all.authority()) + showing(all.client()),
                    Reason.DENIED,
                    "not trusted",
                    "localhost");
        }
    }

    @Test
    void clientWithoutACertificateIsToldThatItNeedsOne() {
        assumeThat(server.version())
                .as("older ones may hang up before the reason arrives")
                .startsWith("3.9");
        expectRefused(secure(server.tlsPort(), all.authority()), Reason.DENIED, "'clientCertificate'");
    }

    @Test
    void plainConnectionToThePortForTlsIsToldTheScheme() {
        expectRefused(
                "zookeeper://localhost:" + server.tlsPort() + PATIENT,
                Reason.UNAVAILABLE,
                "localhost:" + server.tlsPort(),
                "zookeepers://");
    }

    @Test
    @MostlyWaits
    void tlsToAPortWithoutItIsToldTheScheme() throws Exception {
        // The server leaves the handshake unanswered, so the connect time-out passes.
        Duration timeout = Duration.ofSeconds(20);
        SlowMachine.copes(
                timeout.dividedBy(4),
                factor -> expectRefused(
                        "zookeepers://localhost:" + server.port() + "?connectTimeout=" + timeout.multipliedBy(factor)
                                + "&ca=" + all.authority(),
                        Reason.UNAVAILABLE,
                        "zookeeper://",
                        "secureClientPort"));
    }

    @Test
    void filesThatHaveNotWhatTheyShouldAreRefusedBeforeAnythingIsSent(@TempDir Path directory) throws Exception {
        Path empty = Files.writeString(directory.resolve("empty.pem"), "nothing");
        for (String uri : new String[] {
            "zookeepers://localhost:1?ca=" + empty,
            "zookeepers://localhost:1?clientCertificate=" + all.client().certificate(),
            "zookeepers://localhost:1?ca=" + directory.resolve("missing.pem"),
        }) {
            assertThatThrownBy(() -> ZooKeeperUris.builder(StoreUri.parse(uri)).open())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PEM");
        }
    }

    /** The client loads Netty's classes for Linux, which no other artifact that it needs depends on. */
    @Test
    void libraryThatIsMissingIsNamed() throws Exception {
        URL[] others = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("netty-transport-classes-epoll"))
                .map(ZooKeeperTlsTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(others, ClassLoader.getPlatformClassLoader())) {
            Class<?> type = loader.loadClass(ZooKeeperStore.class.getName());
            Object builder = type.getMethod("builder", String.class).invoke(null, "localhost:1");
            builder.getClass().getMethod("tls").invoke(builder);
            assertThatThrownBy(() -> builder.getClass().getMethod("open").invoke(builder))
                    .isInstanceOf(InvocationTargetException.class)
                    .cause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("io.netty:netty-transport-classes-epoll");
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
