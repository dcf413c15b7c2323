package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.store.register.HeldLocks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a client that holds many locks costs the server. */
@Tag("server")
class ZooKeeperAuditTest {

    private static final int LOCKS = Integer.getInteger("holdfast.audit.locks", 2_000);

    /** Three for the index, three for each of the four records that are checked, and the one that counts them. */
    private static final long MOST_REQUESTS = 16;

    @Test
    void auditOfManyLocksTakesFewRequests() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start();
                ZooKeeperStore store = ZooKeeperUnderTest.patient(ZooKeeperStore.builder(server.connectString()))
                        .open()) {
            HeldLocks held = HeldLocks.acquire(store, LOCKS);
            assertThat(HeldLocks.requestsOf(held::audit, server::requests, MOST_REQUESTS))
                    .isBetween(1L, MOST_REQUESTS);
        }
    }
}
