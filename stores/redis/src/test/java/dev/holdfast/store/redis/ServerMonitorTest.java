package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Settings and states of a server that arise while the store is open and cost locks. */
@Tag("server")
class ServerMonitorTest {

    private final TestServer server = TestServer.start("enable-protected-configs", "yes");
    private final RecordingLog log = new RecordingLog();
    private final RedisStore store = open();
    private final SessionId session = session(store, Duration.ofHours(1));

    private RedisStore open() {
        RedisStore.Builder builder = server.builder();
        builder.monitorLog = log;
        return builder.open();
    }

    @AfterEach
    void end() {
        store.close();
        server.close();
    }

    /** The interval is the shortest ttl of an opened session; this one is not renewed. */
    private void askOften() {
        assertThat(session(store, Duration.ofMillis(200))).isNotEqualTo(session);
    }

    private void set(String name, String value) {
        server.server().command("CONFIG", "SET", name, value);
    }

    /** Audits the session as often as a client would in a long time, until something is logged. */
    private void untilLogged(String level, String words) {
        askOften();
        until("it is logged: " + words, () -> {
            send(store, new Command.Audit(session, Optional.empty(), 10), Reply.Audited.class);
            return has(level, words);
        });
        assertThat(log.lines().stream().filter(line -> line.contains(words)).distinct())
                .hasSize(1);
    }

    private boolean has(String level, String words) {
        return log.lines().stream().anyMatch(line -> line.startsWith(level + " server=") && line.contains(words));
    }

    @Test
    void policyThatThrowsLocksAwayIsToldOnce() {
        set("maxmemory", "1gb");
        set("maxmemory-policy", "allkeys-lru");
        untilLogged("WARN", "maxmemory-policy is allkeys-lru");
        set("maxmemory-policy", "noeviction");
        untilLogged("INFO", "has recovered: maxmemory-policy");
    }

    @Test
    void memoryThatIsFullIsTold() {
        askOften();
        set("maxmemory", "1");
        until("it is logged", () -> {
            send(store, new Command.Audit(session, Optional.empty(), 10), Reply.Audited.class);
            return has("WARN", "has reached its maxmemory");
        });
    }

    @Test
    void replicasThatAreMissingAreToldAndWhatNeedsNoWriteGoesOn() {
        askOften();
        send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
        set("min-replicas-to-write", "1");
        var refused = failure(store, new Command.KeepAlive(session, 0));
        assertThat(refused.reason()).isEqualTo(Reason.DENIED);
        assertThat(refused.effect()).isEqualTo(Effect.NONE);
        assertThat(refused).hasMessageContaining("NOREPLICAS");
        until("it is logged", () -> {
            assertThat(failure(store, new Command.KeepAlive(session, 0)).reason())
                    .isEqualTo(Reason.DENIED);
            return has("WARN", "min-replicas-to-write") && has("WARN", "NOREPLICAS");
        });
        whatNeedsNoWriteGoesOn();
        set("min-replicas-to-write", "0");
        send(store, new Command.KeepAlive(session, 0), Reply.SessionAlive.class);
        untilLogged("INFO", "has recovered: refusals");
    }

    @Test
    void diskThatCanNotBeWrittenIsToldAndWhatNeedsNoWriteGoesOn() {
        askOften();
        send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
        set("save", "3600 1");
        set("dbfilename", ".");
        server.server().command("BGSAVE");
        until(
                "the server could not save",
                () -> server.server().info("rdb_last_bgsave_status").equals("err"));
        until("it is logged", () -> {
            assertThat(failure(store, new Command.KeepAlive(session, 0)).reason())
                    .isEqualTo(Reason.DENIED);
            return has("WARN", "could not save its data");
        });
        whatNeedsNoWriteGoesOn();
        // The server permits keep-alives again, though it can't save.
        set("stop-writes-on-bgsave-error", "no");
        send(store, new Command.KeepAlive(session, 0), Reply.SessionAlive.class);
    }

    /** Also when the short session has expired and can't be closed. */
    private void whatNeedsNoWriteGoesOn() {
        Reply.Polled polled = send(store, new Command.Poll(List.of(claim("a", session, 1))), Reply.Polled.class);
        assertThat(polled.states().get(0)).isInstanceOf(Reply.Granted.class);
        assertThat(send(store, new Command.Inspect("", Optional.empty(), 10), Reply.Inspected.class)
                        .resources())
                .hasSize(1);
    }
}
