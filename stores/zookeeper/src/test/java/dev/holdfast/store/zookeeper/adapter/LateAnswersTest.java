package dev.holdfast.store.zookeeper.adapter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.servers.FaultProxy;
import dev.holdfast.servers.MostlyWaits;
import dev.holdfast.servers.ZooKeeperServer;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.zookeeper.client.OwnHandle;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a client is notified of while answers arrive after their time-out, on a working connection. */
@Tag("server")
class LateAnswersTest {

    private static final ResourceName NAME = new ResourceName("late");
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(1);

    /** Each way. */
    private static final Duration DELAY = Duration.ofMillis(1_500);

    private static ZooKeeperServer server;

    private final String root = "/locks-" + UUID.randomUUID();
    private final FaultProxy network = FaultProxy.to(server.port());
    private final RegisterAdapter late = open("127.0.0.1:" + network.port(), REQUEST_TIMEOUT);
    private final RegisterAdapter prompt = open(server.connectString(), Duration.ofMinutes(1));
    private final BlockingQueue<String> reports = new LinkedBlockingQueue<>();

    /** One for all: requests must not wait for longer than their time-out because other servers start. */
    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private RegisterAdapter open(String servers, Duration requestTimeout) {
        return ZooKeeperAdapter.open(
                new OwnHandle(servers, Duration.ofMinutes(5), List.of(), new ZKClientConfig()),
                new ZooKeeperAdapter.Options(
                        root,
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        Duration.ofMinutes(1),
                        requestTimeout,
                        Optional.empty(),
                        250_000),
                System::nanoTime,
                System::currentTimeMillis);
    }

    @BeforeEach
    void listen() {
        late.listen(new RegisterListener() {
            @Override
            public void delivered(SessionId session, byte[] mail, RecordVersion record) {
                reports.add(new String(mail, UTF_8));
            }

            @Override
            public void gone(SessionId session) {
                reports.add(session.value());
            }

            @Override
            public void resubscribed() {}
        });
    }

    @AfterEach
    void close() {
        late.close();
        prompt.close();
        network.close();
    }

    private static <T> T answer(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(1, TimeUnit.MINUTES);
    }

    /** Until what was asked in answer to an event has timed out: that takes two ways, and one time-out. */
    private void awaitTimeOuts() {
        for (int i = 0; i < 4; i++) {
            assertThatThrownBy(() -> answer(late.read(NAME))).hasMessageContaining("did not answer within 1 s");
        }
    }

    private String nextReport() throws InterruptedException {
        return String.valueOf(reports.poll(20, TimeUnit.SECONDS));
    }

    private void writeWithMail(SessionId session, String mail) throws Exception {
        ConditionalWrite write = new ConditionalWrite(
                NAME,
                answer(prompt.read(NAME)).version(),
                Optional.of(new byte[] {1}),
                0,
                Map.of(),
                Map.of(session, mail.getBytes(UTF_8)),
                List.of(),
                List.of());
        assertThat(answer(prompt.write(write))).isInstanceOf(WriteResult.Written.class);
    }

    @Test
    @MostlyWaits
    void shortMailNeedsNoAnswer() throws Exception {
        SessionId session =
                answer(late.openSession(Duration.ofMinutes(1), "late")).id();
        // Read once, so that the mailbox is watched from here on.
        writeWithMail(session, "first");
        assertThat(nextReport()).isEqualTo("first");
        // It may be read once more, for mail that came meanwhile. That is asked before the first of these is answered,
        // and answered before the second.
        for (int i = 0; i < 2; i++) {
            assertThat(answer(late.read(NAME)).version()).isNotNull();
        }
        network.delay(DELAY);
        writeWithMail(session, "granted");
        awaitTimeOuts();
        assertThat(reports).containsExactly("granted");
    }

    @Test
    @MostlyWaits
    void longMailIsReadAgain() throws Exception {
        SessionId session =
                answer(late.openSession(Duration.ofMinutes(1), "late")).id();
        String mail = "revoked".repeat(MailOperations.LONGEST_IN_NAME);
        network.delay(DELAY);
        writeWithMail(session, mail);
        awaitTimeOuts();
        network.heal();
        assertThat(nextReport()).isEqualTo(mail);
    }

    @Test
    @MostlyWaits
    void sessionThatHasEndedIsAskedForAgain() throws Exception {
        SessionId ended =
                answer(prompt.openSession(Duration.ofMinutes(1), "gone")).id();
        var unused = answer(prompt.closeSession(ended).thenApply(done -> true));
        network.delay(DELAY);
        late.watchSessions(Set.of(ended));
        awaitTimeOuts();
        network.heal();
        assertThat(nextReport()).isEqualTo(ended.value());
    }

    /** The ttl is long, and so is that of the connection: the session ends soon only if its end is retried. */
    @Test
    @MostlyWaits
    void endOfASessionThatIsLostOnItsWayIsSentAgain() throws Exception {
        SessionId session =
                answer(late.openSession(Duration.ofMinutes(1), "closed")).id();
        network.blackHole();
        assertThatThrownBy(() -> answer(late.closeSession(session).thenApply(done -> true)))
                .hasMessageContaining("did not answer within 1 s");
        assertThat(answer(prompt.sessions(Set.of(session)))).hasSize(1);
        network.heal();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!answer(prompt.sessions(Set.of(session))).isEmpty()) {
            assertThat(System.nanoTime() - deadline)
                    .as("the session ends before its time")
                    .isNegative();
            LockSupport.parkNanos(20_000_000);
        }
    }
}
