package dev.holdfast.store.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.servers.ZooKeeperEnsemble;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.store.register.LostServer;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.zookeeper.adapter.ZooKeeperAdapter;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A follower that is lost just after a keep-alive that it has not reported to its leader. */
@Tag("server")
class ZooKeeperFollowerLossTest {

    private final String root = ZooKeeperUnderTest.newRoot();

    /** Counts the first renewal of a session. */
    private static final class Renewals implements HoldfastListener {
        private final CountDownLatch first = new CountDownLatch(1);

        @Override
        public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
            return null;
        }

        @Override
        public void onSession(SessionEvent event) {
            if (event.type() == SessionEvent.Type.RENEWED) {
                first.countDown();
            }
        }
    }

    @Test
    void holderHasStoppedBeforeAnotherBegins() throws Exception {
        // As servers come, but for the disk: a tick has two seconds, so a follower reports once in a second.
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(node -> node.option("tickTime", "2000")
                        .option("initLimit", "10")
                        .option("syncLimit", "5"));
                ZooKeeperStore store = store(ensemble.followers().get(0));
                ZooKeeperStore another = store(ensemble.leader());
                RegisterAdapter silent = adapter(ensemble.followers().get(0));
                RegisterAdapter observer = adapter(ensemble.leader())) {
            Renewals renewals = new Renewals();
            try (Holdfast behind = Holdfast.builder(store).listener(renewals).build();
                    Holdfast before = Holdfast.builder(another).build()) {
                ZooKeeperServer follower = ensemble.followers().get(0);
                Hold hold = behind.lock("cut off").acquire();
                OpenedSession session = silent.openSession(silent.traits().maxSessionTtl(), "silent")
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES);
                CompletableFuture<Boolean> areTwo = new CompletableFuture<>();
                before.lock("cut off").acquireAsync().whenComplete((next, failure) -> areTwo.complete(hold.isHeld()));
                assertThat(renewals.first.await(1, TimeUnit.MINUTES)).isTrue();
                LostServer.takesNothingFromASession(silent, observer, session, follower.process()::pause);
                assertThat(areTwo.get(1, TimeUnit.MINUTES)).isFalse();
            }
        }
    }

    private ZooKeeperStore store(ZooKeeperServer server) {
        return ZooKeeperStore.builder(server.connectString())
                .connectTimeout(Duration.ofMinutes(1))
                .root(root)
                .open();
    }

    private RegisterAdapter adapter(ZooKeeperServer server) {
        return ZooKeeperAdapter.open(
                new OwnHandle(server.connectString(), ZooKeeperStore.SESSION_TIMEOUT, List.of(), new ZKClientConfig()),
                new ZooKeeperAdapter.Options(
                        root,
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        Duration.ofMinutes(1),
                        Optional.empty(),
                        250_000),
                System::nanoTime,
                System::currentTimeMillis);
    }
}
