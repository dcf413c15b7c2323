package dev.holdfast.store.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.SlowMachine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Connections to all members that go silent, while new ones work, cost no hold")
@Tag("C19")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SilentConnectionsTest {

    private static final Duration LONGEST = Duration.ofMinutes(2);

    private final List<RedisServer> servers = new ArrayList<>();

    @BeforeEach
    void start() {
        for (int i = 0; i < 3; i++) {
            servers.add(RedisServer.start());
        }
    }

    @AfterEach
    void stop() {
        servers.forEach(RedisServer::close);
    }

    /** With the usual time-outs, longer by a factor. */
    private static QuorumStore open(List<Integer> ports, int factor) {
        QuorumStore.Builder builder =
                QuorumStore.builder().longestLease(LONGEST).answerWithin(Duration.ofSeconds(factor));
        for (int port : ports) {
            builder.member(
                    "redis://127.0.0.1:" + port + "?namespace=silent" + factor + "&timeout=PT" + 5 * factor + "S");
        }
        return builder.open();
    }

    private static Holdfast client(QuorumStore store, Duration ttl, int factor) {
        return Holdfast.builder(store)
                .sessionTtl(ttl)
                .storeTimeout(Duration.ofSeconds(10L * factor))
                .build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT2S", "PT6S"})
    @DisplayName("with the usual time-outs of members and quorum")
    void holdsOutlastIt(String text) throws Exception {
        SlowMachine.copes(Duration.parse(text), factor -> {
            Duration ttl = Duration.parse(text).multipliedBy(factor);
            List<FaultProxy> proxies = new ArrayList<>();
            servers.forEach(server -> proxies.add(FaultProxy.to(server.port())));
            try (QuorumStore store = open(proxies.stream().map(FaultProxy::port).toList(), factor);
                    Holdfast client = client(store, ttl, factor);
                    QuorumStore direct =
                            open(servers.stream().map(RedisServer::port).toList(), factor);
                    Holdfast other = client(direct, Duration.ofMinutes(1), factor)) {
                Hold hold = client.lock("ledger").acquire(Duration.ofMinutes(1));
                long token = hold.fencingToken();
                Queue<Loss> losses = new ConcurrentLinkedQueue<>();
                hold.onLost(losses::add);
                proxies.forEach(FaultProxy::silence);
                long began = System.nanoTime();
                while (System.nanoTime() - began < 3 * ttl.toNanos()) {
                    assertThat(hold.isHeld())
                            .as("after %d ns", System.nanoTime() - began)
                            .isTrue();
                    assertThat(other.lock("ledger").tryLock()).isFalse();
                    LockSupport.parkNanos(20_000_000);
                }
                assertThat(losses).isEmpty();
                assertThat(hold.fencingToken()).isEqualTo(token);
                hold.close();
                try (Hold successor = other.lock("ledger").acquire(Duration.ofMinutes(1))) {
                    assertThat(successor.fencingToken()).isGreaterThan(token);
                }
                assertThat(losses).isEmpty();
            } finally {
                proxies.forEach(FaultProxy::close);
            }
        });
    }
}
