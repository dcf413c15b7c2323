package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisException;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {

    private static RedisServer server;
    private FaultProxy proxy;
    private RedisAdmin client;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(server.port());
        client = new RedisAdmin(proxy.port(), null);
        server.command("FLUSHALL");
        client.command("PING");
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    @Test
    void forwardsAndCounts() {
        long before = proxy.forwarded(FaultProxy.Direction.TO_SERVER);
        client.command("SET", "a", "1");
        assertThat(client.command("GET", "a")).containsExactly("1");
        assertThat(proxy.forwarded(FaultProxy.Direction.TO_SERVER)).isGreaterThan(before);
        assertThat(proxy.connections()).isEqualTo(1);
    }

    @Test
    void handsOnByteByByte() {
        proxy.crumble(FaultProxy.Direction.TO_CLIENT);
        proxy.crumble(FaultProxy.Direction.TO_SERVER);
        client.command("SET", "a", "a longer value than one byte");
        assertThat(client.command("GET", "a")).containsExactly("a longer value than one byte");
    }

    @Test
    void cutsAfterTheEffect() {
        proxy.cutAfterForwarding("precious");
        client.command("SET", "other", "1");
        assertThat(proxy.isCutToCome()).isTrue();
        assertThatThrownBy(() -> client.command("SET", "precious", "1")).isInstanceOf(RedisException.class);
        assertThat(proxy.isCutToCome()).isFalse();
        assertThat(server.command("GET", "precious")).containsExactly("1");
        assertThat(client.command("GET", "precious")).containsExactly("1");
    }

    @Test
    void swallowsRepliesButNotRequests() {
        proxy.swallow(FaultProxy.Direction.TO_CLIENT);
        CompletableFuture<Object> asked = CompletableFuture.supplyAsync(() -> client.command("SET", "a", "1"));
        Until.await(
                "the request has taken effect",
                () -> server.command("EXISTS", "a").contains(1L));
        assertThat(asked).isNotDone();
        proxy.heal();
        assertThatThrownBy(asked::join).hasCauseInstanceOf(RedisException.class);
        assertThat(client.command("GET", "a")).containsExactly("1");
    }

    @Test
    void swallowsRequests() {
        proxy.blackHole();
        long before = proxy.forwarded(FaultProxy.Direction.TO_SERVER);
        CompletableFuture<Object> asked = CompletableFuture.supplyAsync(() -> client.command("SET", "a", "1"));
        proxy.reset();
        assertThatThrownBy(asked::join).hasCauseInstanceOf(RedisException.class);
        assertThat(proxy.forwarded(FaultProxy.Direction.TO_SERVER)).isEqualTo(before);
        assertThat(server.command("EXISTS", "a")).containsExactly(0L);
    }

    @Test
    void swallowsOneWayOfConnectionsThatBeginWithAText() throws IOException {
        proxy.swallow(FaultProxy.Direction.TO_CLIENT, "SET a");
        try (Socket named = new Socket("127.0.0.1", proxy.port())) {
            named.getOutputStream().write("SET a 1\r\n".getBytes(StandardCharsets.US_ASCII));
            Until.await(
                    "the request has taken effect",
                    () -> server.command("EXISTS", "a").contains(1L));
            assertThat(client.command("GET", "a")).containsExactly("1");
            proxy.heal();
            assertThatThrownBy(() -> named.getInputStream().read()).isInstanceOf(IOException.class);
        }
    }

    @Test
    void silencesWhatIsOpenAndLetsNewConnectionsThrough() throws IOException {
        byte[] ping = "PING\r\n".getBytes(StandardCharsets.US_ASCII);
        try (Socket open = new Socket("127.0.0.1", proxy.port())) {
            open.getOutputStream().write(ping);
            assertThat(open.getInputStream().readNBytes(7)).asString().isEqualTo("+PONG\r\n");
            proxy.silence();
            open.getOutputStream().write(ping);
            try (RedisAdmin fresh = new RedisAdmin(proxy.port(), null)) {
                assertThat(fresh.command("PING")).containsExactly("PONG");
            }
            assertThat(open.getInputStream().available()).isZero();
            assertThat(proxy.silent()).as("with that of every test").isEqualTo(2);
        }
        Until.await("it is seen that the client gave it up", () -> proxy.silent() == 1);
        assertThat(proxy.connections()).as("which the server does not hear of").isGreaterThanOrEqualTo(2);
    }

    @Test
    void delaysBothWays() {
        proxy.delay(Duration.ofMillis(50));
        long start = System.nanoTime();
        client.command("PING");
        assertThat(System.nanoTime() - start)
                .isGreaterThanOrEqualTo(2 * Duration.ofMillis(50).toNanos());
        proxy.heal();
    }

    @Test
    void keepsAConnectionUntilTheServerListens() throws IOException {
        int port = Ports.free();
        try (FaultProxy patient = FaultProxy.to(port, Until.DEADLINE);
                Socket early = new Socket()) {
            early.connect(Ports.local(patient.port()));
            early.getOutputStream().write('a');
            try (ServerSocket late = new ServerSocket()) {
                late.bind(Ports.local(port));
                try (Socket accepted = late.accept()) {
                    assertThat(accepted.getInputStream().read()).isEqualTo('a');
                }
            }
        }
    }

    @Test
    void endsAConnectionAtOnceToAServerThatDoesNotListen() throws IOException {
        try (FaultProxy impatient = FaultProxy.to(Ports.free());
                Socket early = new Socket()) {
            early.connect(Ports.local(impatient.port()));
            assertThat(early.getInputStream().read()).isNegative();
        }
    }

    @Test
    void refusesUntilItIsHealed() {
        proxy.refuse();
        proxy.reset();
        assertThatThrownBy(() -> client.command("PING")).isInstanceOf(RedisException.class);
        assertThatThrownBy(() -> client.command("PING")).isInstanceOf(RedisException.class);
        proxy.heal();
        assertThat(client.command("PING")).containsExactly("PONG");
    }
}
