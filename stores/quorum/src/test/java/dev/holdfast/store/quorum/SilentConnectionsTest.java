package dev.holdfast.store.quorum;

import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.RedisServer;
import dev.holdfast.servers.SlowMachine;
import dev.holdfast.testkit.SilentConnections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Connections to all members that go silent, while new ones work, cost no hold")
@Tag("C19")
@Tag("server")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SilentConnectionsTest extends QuorumOfServers {

    private static final Duration LONGEST = Duration.ofMinutes(2);

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
                SilentConnections.outlast(
                        client,
                        other,
                        ttl,
                        () -> proxies.forEach(FaultProxy::silence),
                        () -> proxies.stream().mapToLong(FaultProxy::silent).sum());
            } finally {
                proxies.forEach(FaultProxy::close);
            }
        });
    }
}
