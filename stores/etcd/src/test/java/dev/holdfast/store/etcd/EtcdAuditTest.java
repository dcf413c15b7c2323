package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.store.register.HeldLocks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a client that holds many locks costs the server. */
@Tag("server")
@NeedsEtcd
class EtcdAuditTest {

    private static final int LOCKS = Integer.getInteger("holdfast.audit.locks", 2_000);

    /** Three in a keep-alive interval, of which a ttl, and so the time between two audits, has three. */
    private static final long MOST_REQUESTS = 9;

    private static final int KEEP_ALIVES = 50;

    @Test
    void auditOfManyLocksTakesFewRequests() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore store = TestStores.at(server.endpoint()).open()) {
            HeldLocks held = HeldLocks.acquire(store, LOCKS);
            assertThat(HeldLocks.requestsOf(held::audit, server::requests, MOST_REQUESTS))
                    .isBetween(1L, MOST_REQUESTS);
        }
    }

    @Test
    void keepAliveTakesTwoRequests() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore store = TestStores.at(server.endpoint()).open()) {
            HeldLocks held = HeldLocks.acquire(store, 1);
            held.keepAlive();
            long most = 2L * KEEP_ALIVES + 2; // with a probe of the connection
            HeldLocks.Call keepAlives = () -> {
                for (int i = 0; i < KEEP_ALIVES; i++) {
                    held.keepAlive();
                }
            };
            assertThat(HeldLocks.requestsOf(keepAlives, server::requests, most)).isBetween(2L * KEEP_ALIVES, most);
        }
    }
}
