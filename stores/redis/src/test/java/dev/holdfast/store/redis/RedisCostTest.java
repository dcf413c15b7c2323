package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What locks cost the server, as it counts. */
@Tag("server")
class RedisCostTest {

    /** Nothing is renewed meanwhile, and nothing is sent again. */
    private static final Duration HOUR = Duration.ofHours(1);

    @AutoClose
    private final TestServer server = TestServer.start();

    private Holdfast client() {
        return Holdfast.builder(server.server().uri() + "?timeout=PT1M")
                .sessionTtl(HOUR)
                .storeTimeout(Duration.ofMinutes(1))
                .build();
    }

    private long calls(String command) {
        String prefix = "cmdstat_" + command + ":calls=";
        return server.server()
                .command("INFO", "commandstats")
                .get(0)
                .toString()
                .lines()
                .filter(line -> line.startsWith(prefix))
                .mapToLong(line -> Long.parseLong(line.substring(prefix.length(), line.indexOf(','))))
                .sum();
    }

    @Test
    void lockThatNobodyElseWantsIsOneCommandToTakeAndOneToRelease() throws Exception {
        try (Holdfast holdfast = client()) {
            DistributedLock lock = holdfast.lock("ledger");
            lock.acquire().close();
            long scripts = calls("evalsha");
            long messages = calls("publish");
            for (int i = 0; i < 50; i++) {
                try (Hold outer = lock.acquire();
                        Hold inner = lock.acquire()) {
                    assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
                    assertThat(outer.isHeld()).isTrue();
                }
            }
            assertThat(calls("evalsha") - scripts).isEqualTo(100);
            assertThat(calls("publish")).isEqualTo(messages);
        }
    }

    @Test
    void handOffToAnotherClientIsTwoCommandsAndOneMessage() throws Exception {
        try (Holdfast one = client();
                Holdfast two = client()) {
            List<Hold> holds = new ArrayList<>();
            List<CompletableFuture<Hold>> waiting = new ArrayList<>();
            one.lock("warm").acquire().close();
            two.lock("warm").acquire().close();
            for (int i = 0; i < 20; i++) {
                holds.add(one.lock("name/" + i).acquire());
            }
            long scripts = calls("evalsha");
            long messages = calls("publish");
            for (int i = 0; i < 20; i++) {
                waiting.add(two.lock("name/" + i).acquireAsync().toCompletableFuture());
                int queued = i + 1;
                until("the claim waits", () -> calls("evalsha") >= scripts + queued);
            }
            holds.forEach(Hold::close);
            for (CompletableFuture<Hold> hold : waiting) {
                assertThat(hold.get(1, TimeUnit.MINUTES).isHeld()).isTrue();
            }
            assertThat(calls("evalsha") - scripts).isEqualTo(40);
            assertThat(calls("publish") - messages).isEqualTo(20);
        }
    }

    @Test
    void sessionIsRenewedByOneCommandHoweverMuchItHolds() {
        try (RedisStore store = server.open()) {
            SessionId session = Asking.session(store, HOUR);
            for (int i = 0; i < 2_000; i++) {
                Asking.send(store, Asking.acquire(Asking.claim("name/" + i, session, 1)), Reply.Granted.class);
            }
            long scripts = calls("evalsha");
            long writes = calls("hset") + calls("zadd");
            Asking.send(store, new Command.KeepAlive(session, 0), Reply.SessionAlive.class);
            assertThat(calls("evalsha") - scripts).isEqualTo(1);
            assertThat(calls("hset") + calls("zadd") - writes).isEqualTo(2);
        }
    }

    @Test
    void whatComesTogetherLeavesTogether() {
        try (RedisStore store = server.open()) {
            SessionId session = Asking.session(store, HOUR);
            long scripts = calls("evalsha");
            server.server().process().pause();
            List<CompletableFuture<Reply>> answers = new ArrayList<>();
            try {
                for (int i = 0; i < 162; i++) {
                    answers.add(store.execute(Asking.acquire(Asking.claim("name/" + i, session, 1)), CallerMode.ASYNC)
                            .toCompletableFuture());
                }
            } finally {
                server.server().process().resume();
            }
            for (CompletableFuture<Reply> answer : answers) {
                assertThat(answer.orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Reply.Granted.class);
            }
            // Two left at once with one command each; the others, 32 to a call.
            assertThat(calls("evalsha") - scripts).isEqualTo(2 + 5);
        }
    }
}
