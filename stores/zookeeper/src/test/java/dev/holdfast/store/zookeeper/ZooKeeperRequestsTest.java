package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What locks cost whose records the client does not know. */
@Tag("server")
class ZooKeeperRequestsTest {

    private static final int NAMES = 40;

    /** Enough for names in most shards. */
    private static final int WARM_UP = 400;

    private static Holdfast client(ZooKeeperServer server) {
        return Holdfast.builder(ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                        .open())
                .sessionTtl(Duration.ofMinutes(5))
                .build();
    }

    private static void use(Holdfast client, String name) throws InterruptedException {
        try (Hold hold = client.lock(name).acquire(Duration.ofMinutes(1))) {
            assertThat(hold.isHeld()).isTrue();
        }
    }

    @Test
    @DisplayName("a lock that others have used takes a read and two writes")
    void peeksAtRecordsOfOthers() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                Holdfast alice = client(server);
                Holdfast bob = client(server)) {
            for (int i = 0; i < NAMES; i++) {
                use(alice, "order/" + i);
            }
            for (int i = 0; i < WARM_UP; i++) {
                use(bob, "warm-up/" + i);
            }
            long[] requests = new long[NAMES];
            for (int i = 0; i < NAMES; i++) {
                long before = server.requests();
                use(bob, "order/" + i);
                requests[i] = server.requests() - before - 1; // without the query itself
            }
            // Some shards are unknown, and the clients clean up meanwhile.
            Arrays.sort(requests);
            assertThat(requests[NAMES / 2]).isEqualTo(3);
        }
    }
}
