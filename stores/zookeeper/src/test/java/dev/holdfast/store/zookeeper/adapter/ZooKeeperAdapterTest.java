package dev.holdfast.store.zookeeper.adapter;

import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterAdapterRules;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** The contract of adapters, on a server. */
@Tag("server")
class ZooKeeperAdapterTest extends RegisterAdapterRules {

    private static final ZooKeeperServer SERVER = ZooKeeperServer.start();

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @Override
    protected long requests() {
        return SERVER.requests();
    }

    @Override
    protected RegisterAdapter connect() {
        return connect(Duration.ofMinutes(5));
    }

    @Override
    protected RegisterAdapter connectBriefly() {
        return connect(Duration.ofSeconds(15));
    }

    private static RegisterAdapter connect(Duration sessionTimeout) {
        return ZooKeeperAdapter.open(
                new OwnHandle(SERVER.connectString(), sessionTimeout, List.of(), new ZKClientConfig()),
                new ZooKeeperAdapter.Options(
                        "/holdfast",
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Optional.empty(),
                        250_000),
                System::nanoTime,
                System::currentTimeMillis);
    }
}
