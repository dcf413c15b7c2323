package dev.holdfast.store.etcd;

import static dev.holdfast.store.etcd.RawKeys.below;
import static dev.holdfast.store.etcd.TestStores.client;
import static dev.holdfast.store.etcd.TestStores.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.NeedsEtcd;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster that lost its data, or was restored from older data, keeps its id. */
@Tag("server")
@NeedsEtcd
class EtcdDataLossTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private static final int GRANTS = 50;

    private interface DataLoss {
        void happen(EtcdServer server);
    }

    /** Notifies a holder, a waiter and a caller; the store still rejects calls when revisions are higher again. */
    private static void isNoticed(EtcdServer server, DataLoss loss) throws Exception {
        try (Holdfast one = client(server.endpoint(), LONG);
                Holdfast two = client(server.endpoint(), LONG)) {
            for (int i = 0; i < GRANTS; i++) {
                one.lock("ledger").acquire().close();
            }
            Hold hold = one.lock("ledger").acquire();
            CompletableFuture<Loss> told = new CompletableFuture<>();
            hold.onLost(told::complete);
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            until("the other one waits", () -> below(server, "holdfast/c/").contains("\"count\":\"2\""));
            server.kill();
            loss.happen(server);
            server.restart();

            assertThat(told.get(1, TimeUnit.MINUTES).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
            assertThat(hold.isHeld()).isFalse();
            assertThatThrownBy(() -> waiting.get(1, TimeUnit.MINUTES))
                    .isInstanceOf(ExecutionException.class)
                    .cause()
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("restored from a backup");
            assertThatThrownBy(() -> one.lock("another").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("restored from a backup");
            try (Holdfast reopened = client(server.endpoint(), LONG)) {
                // Also when those of the new cluster have become more than they were.
                for (int i = 0; i < 2 * GRANTS; i++) {
                    reopened.lock("another").acquire().close();
                }
                assertThatThrownBy(() -> one.lock("another").acquire()).isInstanceOf(StoreRefusedException.class);
            }
        }
    }

    @Test
    void dataThatAreDeleted() throws Exception {
        try (EtcdServer server = EtcdServer.start()) {
            isNoticed(server, EtcdServer::deleteData);
        }
    }

    @Test
    void dataThatAreRestored() throws Exception {
        try (EtcdServer server = EtcdServer.start()) {
            server.kill();
            Path backup = server.backUp();
            server.restart();
            isNoticed(server, ended -> ended.putBack(backup));
        }
    }

    @Test
    void sessionsInABackupCountAsEnded() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Holdfast one = client(server.endpoint(), LONG);
                Holdfast two = client(server.endpoint(), LONG)) {
            Hold hold = one.lock("old").acquire();
            CompletableFuture<Loss> told = new CompletableFuture<>();
            hold.onLost(told::complete);
            server.kill();
            Path backup = server.backUp();
            server.restart();
            two.lock("new").acquire().close();
            one.lock("new").acquire().close();
            server.kill();
            server.putBack(backup);
            server.restart();
            assertThat(told.get(1, TimeUnit.MINUTES).cause()).isEqualTo(Loss.Cause.SESSION_ENDED);
        }
    }

    @Test
    void holderWhoseRecordIsDeletedByHandLosesItsLock() throws Exception {
        Duration ttl = Duration.ofSeconds(3);
        try (EtcdServer server = EtcdServer.start();
                Holdfast one = client(server.endpoint(), ttl);
                Holdfast two = client(server.endpoint(), ttl)) {
            Hold hold = one.lock("deleted").acquire();
            CompletableFuture<Loss> told = new CompletableFuture<>();
            hold.onLost(told::complete);
            RawKeys.delete(server, "holdfast/r/deleted");
            Hold next = two.lock("deleted").acquire();
            assertThat(told.get(1, TimeUnit.MINUTES)).isNotNull();
            assertThat(next.isHeld()).isTrue();
            until(
                    "its index entry is removed",
                    () -> below(server, "holdfast/c/").contains("\"count\":\"1\""));
        }
    }
}
