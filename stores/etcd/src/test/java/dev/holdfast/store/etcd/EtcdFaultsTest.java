package dev.holdfast.store.etcd;

import static dev.holdfast.store.etcd.RawKeys.below;
import static dev.holdfast.store.etcd.RawKeys.encoded;
import static dev.holdfast.store.etcd.TestStores.client;
import static dev.holdfast.store.etcd.TestStores.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.servers.CutConnections;
import dev.holdfast.servers.EtcdServer;
import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.NeedsEtcd;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.DeadHolder;
import dev.holdfast.store.register.HeldLocks;
import io.grpc.netty.NettyChannelBuilder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of locks when the server, or the way to it, fails. */
@Tag("server")
@NeedsEtcd
class EtcdFaultsTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private static final int DEAD_RECORDS = 40;

    @Test
    void holdOutlivesARestartOfTheServer() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Holdfast one = client(server.endpoint(), LONG);
                Holdfast two = client(server.endpoint(), LONG)) {
            Hold hold = one.lock("ledger").acquire();
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            server.kill();
            server.restart();
            assertThat(hold.isHeld()).isTrue();
            long token = hold.fencingToken();
            hold.close();
            try (Hold next = waiting.get(1, TimeUnit.MINUTES)) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
        }
    }

    @Test
    void leaseThatIsRevokedByHandIsALoss() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                Holdfast one = client(server.endpoint(), LONG);
                Holdfast two = client(server.endpoint(), LONG)) {
            Hold hold = one.lock("ledger").acquire();
            long token = hold.fencingToken();
            CompletableFuture<Loss> told = new CompletableFuture<>();
            hold.onLost(told::complete);
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            until("the other one waits", () -> below(server, "holdfast/c/").contains("\"count\":\"2\""));
            server.call("/v3/lease/revoke", "{\"ID\": \"" + leaseOfHolder(server) + "\"}");
            assertThat(told.get(1, TimeUnit.MINUTES).name()).isEqualTo("ledger");
            try (Hold next = waiting.get(1, TimeUnit.MINUTES)) {
                assertThat(next.fencingToken()).isGreaterThan(token);
            }
            assertThat(hold.isHeld()).isFalse();
        }
    }

    /** The lease that the index entry of the claim that holds is attached to. */
    private static String leaseOfHolder(EtcdServer server) {
        String held = Base64.getEncoder().encodeToString(new byte[] {'h'});
        String entries = below(server, "holdfast/c/");
        Matcher entry = Pattern.compile("\"value\":\"" + Pattern.quote(held) + "\",\"lease\":\"(\\d+)\"")
                .matcher(entries);
        assertThat(entry.find()).as(entries).isTrue();
        return entry.group(1);
    }

    @Test
    void waiterIsServedThoughItsWatchWasLostAndTheHistoryCompacted() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                FaultProxy network = FaultProxy.to(server.port());
                Holdfast one = client(server.endpoint(), LONG);
                Holdfast two = client("127.0.0.1:" + network.port(), LONG)) {
            Hold hold = one.lock("ledger").acquire();
            CompletableFuture<Hold> waiting = two.lock("ledger").acquireAsync().toCompletableFuture();
            until("the other one waits", () -> below(server, "holdfast/c/").contains("\"count\":\"2\""));
            network.refuse();
            network.reset();
            hold.close();
            String revision = revision(server);
            server.call("/v3/kv/compaction", "{\"revision\": \"" + revision + "\", \"physical\": true}");
            network.heal();
            waiting.get(1, TimeUnit.MINUTES).close();
        }
    }

    private static String revision(EtcdServer server) {
        Matcher revision = Pattern.compile("\"revision\":\"(\\d+)\"").matcher(below(server, "holdfast/"));
        assertThat(revision.find()).isTrue();
        return revision.group(1);
    }

    @Test
    void keysThatNoLockCanHaveAreListedBesideTheLocks() throws Exception {
        List<byte[]> strange = List.of(
                new byte[0],
                " ".getBytes(StandardCharsets.UTF_8),
                "long".repeat(200).getBytes(StandardCharsets.UTF_8),
                new byte[] {(byte) 0xff, (byte) 0xfe},
                new byte[] {(byte) 0xff, (byte) 0xff});
        try (EtcdServer server = EtcdServer.start();
                EtcdStore store = TestStores.at(server.endpoint()).open()) {
            SessionId session = ((Reply.SessionOpened) answer(store, new Command.OpenSession(LONG, "one"))).session();
            for (int i = 1; i <= 3; i++) {
                Command acquire = pairOfPermits(new ClaimRef(new ResourceName("lock-" + i), session, i));
                assertThat(answer(store, acquire)).isInstanceOf(Reply.Granted.class);
            }
            for (byte[] name : strange) {
                RawKeys.put(server, "holdfast/r/", name, "rubbish");
            }
            for (int limit : new int[] {1, 2, 100}) {
                List<String> locks = new ArrayList<>();
                List<String> others = new ArrayList<>();
                Optional<String> cursor = Optional.empty();
                do {
                    Reply.Inspected page = (Reply.Inspected) answer(store, new Command.Inspect("", cursor, limit));
                    page.resources().forEach(info -> locks.add(info.name().value()));
                    page.damaged().forEach(record -> others.add(record.reason()));
                    cursor = page.cursor();
                } while (cursor.isPresent());
                assertThat(locks).containsExactly("lock-1", "lock-2", "lock-3");
                assertThat(others)
                        .hasSameSizeAs(strange)
                        .allMatch(reason -> reason.contains("no lock can have this name"));
            }
        }
    }

    /** A call may fail before its caller knows that it was started. */
    @Test
    void streamOfWatchesThatIsRefusedAtOnceIsOpenedAgain() throws Exception {
        refusing("etcdserverpb.Watch/Watch", (channel, store) -> {
            channel.refuse(2);
            assertThat(answer(store, new Command.OpenSession(LONG, "one"))).isInstanceOf(Reply.SessionOpened.class);
        });
    }

    @Test
    void endOfASessionThatIsLostOnItsWayIsSentAgain() throws Exception {
        refusing("etcdserverpb.Lease/LeaseRevoke", (channel, store) -> {
            SessionId session = ((Reply.SessionOpened) answer(store, new Command.OpenSession(LONG, "one"))).session();
            channel.refuse(2);
            assertThat(answer(store, new Command.CloseSession(session))).isEqualTo(new Reply.Done());
            assertThat(answer(store, new Command.KeepAlive(session, 0))).isEqualTo(new Reply.SessionEnded());
        });
    }

    private interface WithChannel {
        void run(RefusingChannel channel, EtcdStore store) throws Exception;
    }

    /** Uses a store whose calls wait for long, and whose channel can refuse those of a method. */
    private static void refusing(String method, WithChannel use) throws Exception {
        try (EtcdServer server = EtcdServer.start()) {
            RefusingChannel channel = new RefusingChannel(
                    NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                            .usePlaintext()
                            .build(),
                    method);
            EtcdStore.Builder builder = EtcdStore.builder(channel).requestTimeout(Duration.ofMinutes(10));
            try (EtcdStore store = builder.open()) {
                use.run(channel, store);
            } finally {
                var unused = channel.shutdownNow();
            }
        }
    }

    @Test
    void fullServerRefusesAndKeepsWhatIsHeld() throws Exception {
        try (EtcdServer server = EtcdServer.builder()
                        .option("quota-backend-bytes", String.valueOf(4 * 1024 * 1024))
                        .start();
                Holdfast one = client(server.endpoint(), Duration.ofSeconds(30))) {
            Hold hold = one.lock("held").acquire();
            fill(server);
            assertThatThrownBy(() -> one.lock("another").acquire())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("quota");
            assertThat(one.checkHealth(Duration.ofMinutes(1)).isHealthy()).isTrue();
            assertThat(hold.isHeld()).isTrue();
            hold.close();
            until(
                    "nothing is left of the name",
                    () -> !below(server, "holdfast/r/").contains("\"kvs\""));
        }
    }

    @Test
    void deadHolderIsNoticedBehindManyPermitsOfAnother() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore living = TestStores.at(server.endpoint()).open();
                EtcdStore waiting = TestStores.at(server.endpoint()).open()) {
            EtcdStore dying = TestStores.at(server.endpoint()).open();
            DeadHolder.isNoticed(living, waiting, dying, 2, 9, () -> {});
        }
    }

    /** A later client cleans up once the turn of an earlier one has ended. */
    @Test
    @MostlyWaits
    void recordsOfADeadClientAreRemovedThoughNobodyAsksForThem() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore living = TestStores.at(server.endpoint()).open()) {
            var unused = HeldLocks.acquire(living, 1);
            try (EtcdStore dying = TestStores.at(server.endpoint()).open()) {
                // Until all is granted; its client has the turn for almost as long.
                Command open = new Command.OpenSession(Duration.ofSeconds(12), "dying");
                SessionId session = ((Reply.SessionOpened) answer(dying, open)).session();
                for (int i = 1; i <= DEAD_RECORDS; i++) {
                    Command acquire = pairOfPermits(new ClaimRef(new ResourceName("dead-" + i), session, i));
                    assertThat(answer(dying, acquire)).isInstanceOf(Reply.Granted.class);
                }
            }
            assertThat(below(server, "holdfast/r/")).contains("\"count\":\"" + (DEAD_RECORDS + 1) + "\"");
            until("its session has ended", () -> below(server, "holdfast/s/").contains("\"count\":\"1\""));
            until(
                    "no client has the turn",
                    () -> !below(server, "holdfast/w/turn").contains("\"kvs\""));
            try (EtcdStore visitor = TestStores.at(server.endpoint()).open()) {
                assertThat(answer(visitor, new Command.OpenSession(LONG, "visitor")))
                        .isInstanceOf(Reply.SessionOpened.class);
                until(
                        "only the record of the living is left",
                        () -> below(server, "holdfast/r/").contains("\"count\":\"1\""));
            }
        }
    }

    @Test
    void resizeEndsMoreWaitersThanATransactionTakes() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                EtcdStore store = TestStores.at(server.endpoint()).open()) {
            ResourceName name = new ResourceName("crowd");
            List<ClaimRef> claims = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                SessionId session =
                        ((Reply.SessionOpened) answer(store, new Command.OpenSession(LONG, "one"))).session();
                claims.add(new ClaimRef(name, session, 1));
                assertThat(answer(store, pairOfPermits(claims.get(i))))
                        .isInstanceOf(i == 0 ? Reply.Granted.class : Reply.Queued.class);
            }
            SessionId holder = claims.remove(0).session();
            assertThat(answer(store, new Command.Resize(name, holder, 0, 1))).isEqualTo(new Reply.Done());
            assertThat(((Reply.Polled) answer(store, new Command.Poll(claims))).states())
                    .containsOnly(new Reply.Absent());
            until(
                    "no index entry is left but the holder's",
                    () -> below(server, "holdfast/c/").contains("\"count\":\"1\""));
        }
    }

    private static Command pairOfPermits(ClaimRef claim) {
        ResourceSpec pair = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);
        return new Command.Acquire(claim, 0, Command.Sending.FIRST, pair, 2, Lease.SESSION, Command.Waiting.QUEUE, 1);
    }

    private static Reply answer(EtcdStore store, Command command) throws Exception {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture().get(1, TimeUnit.MINUTES);
    }

    private static void fill(EtcdServer server) {
        String value = "x".repeat(512 * 1024);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        server.call(
                                "/v3/kv/put",
                                "{\"key\": \"" + encoded("filler/" + i) + "\", \"value\": \"" + value + "\"}");
                    }
                })
                .hasMessageContaining("database space exceeded");
    }

    @Test
    @MostlyWaits
    void silentConnectionIsReplaced() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                FaultProxy network = FaultProxy.to(server.port());
                Holdfast one = renewedOften("127.0.0.1:" + network.port())) {
            Hold hold = one.lock("ledger").acquire();
            network.silence();
            until("another connection was made", () -> network.connections() - network.silent() > 0);
            assertThat(hold.isHeld()).isTrue();
            hold.close();
        }
    }

    @Test
    void connectionsThatAreCutWhileIdleFailNoCall() throws Exception {
        try (EtcdServer server = EtcdServer.start();
                FaultProxy network = FaultProxy.to(server.port());
                Holdfast client = client("127.0.0.1:" + network.port(), LONG)) {
            CutConnections.areNotNoticed(client, network::reset);
        }
    }

    private static Holdfast renewedOften(String endpoint) {
        return Holdfast.builder("etcd://" + endpoint + "?timeout=PT30S&connectTimeout=PT1M")
                .sessionTtl(Duration.ofSeconds(24))
                .keepAliveEvery(Duration.ofSeconds(1))
                .build();
    }
}
