package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.EtcdCluster;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which members of a cluster the clients use. */
@Tag("server")
@NeedsEtcd
class EtcdMembersTest {

    /** With this many clients, one of three members is unused with a probability of one in a million. */
    private static final int CLIENTS = 37;

    private static final int CALLS = 20;

    private static String[] places(EtcdCluster cluster) {
        return cluster.members().stream().map(EtcdServer::endpoint).toArray(String[]::new);
    }

    @Test
    void clientsOfOneUriAreSpreadOverTheMembers() {
        try (EtcdCluster cluster = EtcdCluster.start()) {
            List<Long> before =
                    cluster.members().stream().map(EtcdServer::requests).toList();
            for (int i = 0; i < CLIENTS; i++) {
                TestStores.at(places(cluster)).open().close();
            }
            for (int i = 0; i < before.size(); i++) {
                assertThat(cluster.members().get(i).requests()).isGreaterThan(before.get(i));
            }
        }
    }

    @Test
    void clientReturnsToTheMemberThatItHadToLeave() {
        try (EtcdServer server = EtcdServer.start()) {
            List<FaultProxy> ways = List.of(FaultProxy.to(server.port()), FaultProxy.to(server.port()));
            String[] places =
                    ways.stream().map(way -> "127.0.0.1:" + way.port()).toArray(String[]::new);
            try (EtcdStore store =
                    TestStores.at(places).returnEvery(Duration.ofMillis(100)).open()) {
                keepUsing(store);
                int first = mostUsed(store, ways);
                ways.get(first).refuse();
                ways.get(first).reset();
                TestStores.until("the other one is used", () -> mostUsed(store, ways) != first);
                ways.get(first).heal();
                TestStores.until("the first one is used again", () -> mostUsed(store, ways) == first);
            }
            ways.forEach(FaultProxy::close);
        }
    }

    private static void keepUsing(EtcdStore store) {
        assertThat(answer(store, new Command.OpenSession(Duration.ofMinutes(5), "one")))
                .isInstanceOf(Reply.SessionOpened.class);
    }

    /** Through which of these ways most of some calls go. */
    private static int mostUsed(EtcdStore store, List<FaultProxy> ways) {
        List<Long> before = ways.stream().map(EtcdMembersTest::sent).toList();
        AtomicLong answered = new AtomicLong();
        TestStores.until("calls are answered", () -> {
            try {
                var unused = answer(store, new Command.Inspect("", Optional.empty(), 1));
                return answered.incrementAndGet() == CALLS;
            } catch (CompletionException e) {
                assertThat(e).cause().isInstanceOf(StoreException.class);
                return false;
            }
        });
        List<Long> used = new ArrayList<>();
        for (int i = 0; i < ways.size(); i++) {
            used.add(sent(ways.get(i)) - before.get(i));
        }
        return used.get(0) > used.get(1) ? 0 : 1;
    }

    private static long sent(FaultProxy way) {
        return way.forwarded(FaultProxy.Direction.TO_SERVER);
    }

    private static Reply answer(EtcdStore store, Command command) {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture().join();
    }
}
