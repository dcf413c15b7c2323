package dev.holdfast.store.zookeeper.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ClientCnxnSocketNIO;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A handle that can't be made for a while after the session of the one before has expired. */
@Tag("server")
class HandleReplacementTest {

    private static final ResourceName NAME = new ResourceName("replaced");

    private final BlockingQueue<SessionId> ended = new LinkedBlockingQueue<>();
    private final ZKClientConfig config = new ZKClientConfig();

    private RegisterAdapter open(OwnHandle handle) {
        RegisterAdapter adapter = ZooKeeperAdapter.open(
                handle,
                new ZooKeeperAdapter.Options(
                        "/locks",
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        Duration.ofSeconds(2),
                        Optional.empty(),
                        250_000),
                System::nanoTime,
                System::currentTimeMillis);
        adapter.listen(new RegisterListener() {
            @Override
            public void delivered(SessionId session, byte[] mail, RecordVersion record) {}

            @Override
            public void gone(SessionId session) {
                ended.add(session);
            }

            @Override
            public void resubscribed() {}
        });
        return adapter;
    }

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(1, TimeUnit.MINUTES);
    }

    private static boolean opensSession(RegisterAdapter adapter) throws Exception {
        try {
            return !answer(adapter.openSession(Duration.ofMinutes(1), "again"))
                    .ttl()
                    .isZero();
        } catch (ExecutionException e) {
            return false;
        }
    }

    @Test
    void isTriedAgainUntilTheHandleCanBeMade() throws Exception {
        try (ZooKeeperServer server = ZooKeeperServer.start()) {
            OwnHandle handle = new OwnHandle(server.connectString(), Duration.ofMinutes(5), List.of(), config);
            try (RegisterAdapter adapter = open(handle)) {
                SessionId session = answer(adapter.openSession(Duration.ofMinutes(1), "first"))
                        .id();
                ZooKeeper first = handle.handle();
                config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "no.such.Socket");
                first.getTestable().injectSessionExpiration();

                assertThat(ended.poll(1, TimeUnit.MINUTES)).isEqualTo(session);
                assertThatThrownBy(() -> answer(adapter.read(NAME))).hasMessageContaining("no connection");
                assertThat(handle.handle()).isSameAs(first);

                config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNIO.class.getName());
                long start = System.nanoTime();
                while (!opensSession(adapter)) {
                    assertThat(System.nanoTime() - start)
                            .as("another handle is made within a minute")
                            .isLessThan(TimeUnit.MINUTES.toNanos(1));
                    LockSupport.parkNanos(20_000_000);
                }
                assertThat(handle.handle()).isNotSameAs(first);
                assertThat(answer(adapter.read(NAME)).state()).isEmpty();
            }
        }
    }
}
