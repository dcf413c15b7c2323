package dev.holdfast.store.zookeeper;

import static dev.holdfast.store.zookeeper.Trial.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.FaultProxy.Direction;
import dev.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server that grants a shorter session time-out when a client connects again. */
@Tag("server")
class ZooKeeperTimeOutTest {

    private final String root = ZooKeeperUnderTest.newRoot();
    private final ZooKeeperServer server = ZooKeeperServer.start();
    private final FaultProxy network = FaultProxy.to(server.port());

    @AfterEach
    void close() {
        network.close();
        server.close();
    }

    private ZooKeeperStore store(String servers) {
        return Trial.patient(ZooKeeperStore.builder(servers)).root(root).open();
    }

    @Test
    void sessionsEndForWhichItIsTooShort() throws Exception {
        try (Holdfast first =
                        Holdfast.builder(store("127.0.0.1:" + network.port())).build();
                Holdfast second = Holdfast.builder(store(server.connectString()))
                        .sessionTtl(Duration.ofSeconds(5))
                        .build()) {
            Hold hold = first.lock("shorter").acquire();
            second.lock("opens").acquire().close();
            server.kill();
            long before = network.forwarded(Direction.TO_CLIENT);
            server.restartWith("maxSessionTimeout", "10000");
            until("the first is connected again", () -> network.forwarded(Direction.TO_CLIENT) > before);
            network.blackHole();
            CompletableFuture<Boolean> areTwo = new CompletableFuture<>();
            second.lock("shorter").acquireAsync().whenComplete((next, failure) -> areTwo.complete(hold.isHeld()));
            assertThat(areTwo.get(1, TimeUnit.MINUTES)).isFalse();
            network.heal();
            until("the first is told why it has no session", () -> isRefused(first));
        }
    }

    private static boolean isRefused(Holdfast client) {
        try (Hold hold = client.lock("refused").acquire(Duration.ofSeconds(5))) {
            throw new AssertionError("It has " + hold);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage()).contains("maxSessionTimeout");
        }
    }

    @Test
    void sessionsGoOnThatHaveRoom() throws Exception {
        try (Holdfast client = Holdfast.builder(store(server.connectString()))
                .sessionTtl(Duration.ofSeconds(8))
                .build()) {
            Hold hold = client.lock("short enough").acquire();
            server.restartWith("maxSessionTimeout", "10000");
            until("the client is connected again", () -> Trial.canAcquire(client, "another"));
            assertThat(hold.isHeld()).isTrue();
        }
    }
}
