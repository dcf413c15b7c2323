package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.LocalSqlServer;
import dev.holdfast.servers.sql.MariaDbOrMysql;
import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.jdbc.mysql.MysqlNotificationListener;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Waiters on MariaDB or MySQL are told")
@Tag("mysql")
@Tag("server")
class MysqlNotificationListenerTest {

    private static final String NAPS =
            "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'";

    private final LocalSqlServer server = MariaDbOrMysql.start();
    private final List<Signal> signals = new CopyOnWriteArrayList<>();
    private final JdbcStore first = open(server.url());
    private JdbcStore second = open(server.url());

    private static JdbcStore open(String url) {
        return JdbcStore.builder(new DriverDataSource(url)).keepsConnections().open();
    }

    @BeforeEach
    void subscribe() {
        second.subscribe(signals::add);
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
        server.close();
    }

    @Test
    @DisplayName("of their grants with the whole answer, without asking; and nothing naps when nothing waits")
    void grantsAreTold() throws Exception {
        TestClient alice = new TestClient(first);
        TestClient bob = new TestClient(second);
        for (int i = 0; i < 20; i++) {
            ClaimRef holderClaim = alice.ref("a");
            alice.acquire(holderClaim);
            ClaimRef waits = bob.ref("a");
            assertThat(bob.acquire(waits)).isInstanceOf(Reply.Queued.class);
            if (i % 2 == 0) {
                until("it naps", () -> number(NAPS) == 1);
            }
            alice.release(holderClaim);
            until("it is told", () -> signals.stream().anyMatch(signal -> isAbout(signal, waits)));
            Signal signal = signals.stream()
                    .filter(one -> isAbout(one, waits))
                    .findFirst()
                    .orElseThrow();
            if (signal instanceof Signal.Granted granted) {
                assertThat(granted.grant()).isEqualTo(bob.poll(waits));
            } else {
                // A grant before it sleeps is reported without its reply.
                assertThat(signal).isEqualTo(new Signal.Changed(waits));
            }
            bob.release(waits);
            until("nothing naps", () -> number(NAPS) == 0);
        }
    }

    @Test
    @DisplayName("to look, where the lease is their own or the grant one of many")
    void changesAreTold() {
        TestClient alice = new TestClient(first);
        TestClient bob = new TestClient(second);
        ClaimRef holderClaim = alice.ref("a");
        alice.acquire(holderClaim);
        ClaimRef bounded = bob.ref("a");
        Reply queued = bob.acquire(bounded, ResourceSpec.MUTEX, 1, Lease.bounded(Duration.ofHours(1)));
        assertThat(queued).isInstanceOf(Reply.Queued.class);
        alice.release(holderClaim);
        until("it is told", () -> signals.contains(new Signal.Changed(bounded)));
        assertThat(bob.poll(bounded)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    @DisplayName("of everything, however many claims wait")
    void manyAreTold() {
        TestClient alice = new TestClient(first);
        TestClient bob = new TestClient(second);
        List<ClaimRef> holderClaims = new CopyOnWriteArrayList<>();
        List<ClaimRef> waiting = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 300; i++) {
            holderClaims.add(alice.ref("many-" + i));
            alice.acquire(holderClaims.get(i));
            waiting.add(bob.ref("many-" + i));
            bob.acquire(waiting.get(i));
        }
        holderClaims.forEach(alice::release);
        until(
                "all are told",
                () -> waiting.stream().allMatch(claim -> signals.stream().anyMatch(signal -> isAbout(signal, claim))));
    }

    @Test
    @DisplayName("on a connection that no program is lent after that, whose queries could be ended instead of a nap")
    void theConnectionIsNotLentAgain() throws Exception {
        TestClient alice = new TestClient(first);
        ClaimRef holderClaim = alice.ref("a");
        alice.acquire(holderClaim);
        String napping;
        try (PoolKind.Pool pool = PoolKind.HIKARI.make(server.newDatabase())) {
            try (JdbcStore pooled =
                    JdbcStore.builder(pool.source()).listens(true).open()) {
                TestClient bob = new TestClient(pooled);
                ClaimRef other = bob.ref("b");
                bob.acquire(other);
                assertThat(new TestClient(pooled).acquire(new TestClient(pooled).ref("b")))
                        .isInstanceOf(Reply.Queued.class);
                until("it naps", () -> number(NAPS) == 1);
                napping = new TestSource(server.url()).text(NAPS.replace("count(*)", "id"));
            }
            until(
                    "it has ended",
                    () -> number("SELECT count(*) FROM information_schema.processlist WHERE id = " + napping) == 0);
            try (Connection connection = pool.source().getConnection()) {
                assertThat(TestSource.text(connection, "SELECT 1")).isEqualTo("1");
                connection.rollback();
            }
        }
    }

    @Test
    @DisplayName("after the connection was lost on which they are told")
    void aLostConnectionIsMadeAgain() {
        TestClient alice = new TestClient(first);
        TestClient bob = new TestClient(second);
        ClaimRef holderClaim = alice.ref("a");
        alice.acquire(holderClaim);
        ClaimRef waits = bob.ref("a");
        bob.acquire(waits);
        until("it naps", () -> number(NAPS) == 1);
        long lost = number("SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'");
        server.execute("KILL CONNECTION " + lost);
        until("who waits is to ask", () -> signals.contains(new Signal.Resubscribed()));
        until("it naps again", () -> number(NAPS + " AND id <> " + lost) == 1);
        alice.release(holderClaim);
        until("it is told", () -> signals.stream().anyMatch(signal -> isAbout(signal, waits)));
    }

    @Test
    @DisplayName("while the network stands still and breaks")
    void aBrokenNetwork() throws Exception {
        second.close();
        try (FaultProxy proxy = FaultProxy.to(server.port())) {
            second = open(server.url().replace(":" + server.port(), ":" + proxy.port()));
            second.subscribe(signals::add);
            TestClient alice = new TestClient(first);
            TestClient bob = new TestClient(second);
            ClaimRef holderClaim = alice.ref("a");
            alice.acquire(holderClaim);
            ClaimRef waits = bob.ref("a");
            bob.acquire(waits);
            until("it naps", () -> number(NAPS) == 1);
            proxy.reset();
            until("who waits is to ask", () -> signals.contains(new Signal.Resubscribed()));
            alice.release(holderClaim);
            until("it is told", () -> signals.stream().anyMatch(signal -> isAbout(signal, waits)));
        }
    }

    @Test
    @DisplayName("soon, also if nobody can end their naps")
    void napsThatNobodyEnds() throws Exception {
        try (Connection other = server.connect()) {
            // The named lock leads to this connection instead of the sleeping one.
            TestSource.execute(other, "DO GET_LOCK('" + MysqlNotificationListener.lockName(second.client()) + "', 0)");
            TestClient alice = new TestClient(first);
            TestClient bob = new TestClient(second);
            for (int i = 0; i < 5; i++) {
                ClaimRef holderClaim = alice.ref("a");
                alice.acquire(holderClaim);
                ClaimRef waits = bob.ref("a");
                bob.acquire(waits);
                alice.release(holderClaim);
                until("it is told", () -> signals.stream().anyMatch(signal -> isAbout(signal, waits)));
                bob.release(waits);
            }
        }
    }

    private static boolean isAbout(Signal signal, ClaimRef claim) {
        return (signal instanceof Signal.Granted granted && granted.claim().equals(claim))
                || signal.equals(new Signal.Changed(claim));
    }

    private long number(String query) {
        try (Connection connection = server.connect()) {
            return Long.parseLong(TestSource.text(connection, query));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as(what).isNegative();
            Thread.onSpinWait();
        }
    }
}
