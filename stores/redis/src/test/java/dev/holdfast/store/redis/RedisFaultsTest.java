package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of commands, and of the store, when the server or the way to it fails. */
@Tag("server")
class RedisFaultsTest {

    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void serverThatForgotTheScriptIsToldAgain() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            server.with(redis -> redis.scriptFlush());
            send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
            send(store, acquire(claim("b", session, 2)), Reply.Granted.class);
        }
    }

    @Test
    void serverThatComesBackWithItsDataIsUsedAgain() {
        try (TestServer server = TestServer.start("appendonly", "yes", "appendfsync", "always");
                RedisStore store = server.open()) {
            Queue<Signal> signals = new ConcurrentLinkedQueue<>();
            store.subscribe(signals::add);
            SessionId session = session(store, HOUR);
            ClaimRef holder = claim("a", session, 1);
            Reply.Granted before = send(store, acquire(holder), Reply.Granted.class);
            server.server().kill();
            until("the loss of the connection is seen", () -> {
                StoreException failure = failure(store, new Command.KeepAlive(session, 0));
                return failure.effect() == Effect.NONE && failure.reason() == Reason.UNAVAILABLE;
            });
            server.server().restart();
            until("the server is used again", () -> isServed(store, new Command.KeepAlive(session, 0)));
            assertThat(send(store, acquire(holder))).isEqualTo(before);
            until("it is told that signals may be lost", () -> signals.contains(new Signal.Resubscribed()));
        }
    }

    @Test
    void tokensRiseWhenTheServerComesBackWithoutItsData() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            Reply.Granted before = send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
            server.server().kill();
            server.server().restart();
            until("the server is used again", () -> isServed(store, new Command.KeepAlive(session, 0)));
            send(store, new Command.KeepAlive(session, 0), Reply.SessionEnded.class);
            SessionId next = session(store, HOUR);
            assertThat(next).isNotEqualTo(session);
            Reply.Granted after = send(store, acquire(claim("a", next, 1)), Reply.Granted.class);
            assertThat(after.tokens().first()).isGreaterThan(before.tokens().last());
        }
    }

    @Test
    void serverThatDoesNotAnswerLeavesTheOutcomeUnknown() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open();
                RedisStore hasty =
                        server.builder().commandTimeout(Duration.ofMillis(300)).open()) {
            SessionId session = session(store, HOUR);
            ClaimRef claim = claim("a", session, 1);
            server.server().process().pause();
            StoreException failure;
            try {
                failure = failure(hasty, acquire(claim));
            } finally {
                server.server().process().resume();
            }
            assertThat(failure.effect()).isEqualTo(Effect.UNKNOWN);
            assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
            until("the server is used again", () -> isServed(store, new Command.KeepAlive(session, 1)));
            // Regardless of the outcome of the first request, the claim has one state, and the epoch rejects late
            // duplicates.
            send(store, acquire(claim), Reply.Stale.class);
            send(store, new Command.Withdraw(claim, Command.Sending.REPEAT), Reply.Done.class);
            assertThat(send(store, new Command.Poll(List.of(claim))))
                    .isEqualTo(new Reply.Polled(List.of(new Reply.Absent())));
        }
    }

    @Test
    void whatWasUnderWayWhenTheConnectionBrokeIsNeverSentAgain() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            server.server().process().pause();
            List<CompletableFuture<Reply>> underWay = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                underWay.add(store.execute(acquire(claim("lost-" + i, session, 1)), CallerMode.ASYNC)
                        .toCompletableFuture());
            }
            // Killed before it has read them, so none can have had an effect unless it is sent to the next server.
            server.server().kill();
            server.server().restart();
            for (CompletableFuture<Reply> answer : underWay) {
                assertThat(catchThrowable(answer::join)).hasCauseInstanceOf(StoreException.class);
            }
            until("the server is used again", () -> isServed(store, new Command.KeepAlive(session, 0)));
            Reply.Inspected inspected =
                    send(store, new Command.Inspect("", Optional.empty(), 100), Reply.Inspected.class);
            assertThat(inspected.resources()).isEmpty();
        }
    }

    @Test
    void grantIsGivenUpForAClaimThatWaitsAlready() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            ClaimRef holder = claim("a", session, 1);
            ClaimRef waits = claim("a", session, 3);
            send(store, acquire(holder), Reply.Granted.class);
            send(store, acquire(waits), Reply.Queued.class);
            send(store, new Command.Yield(holder, acquire(waits)), Reply.Granted.class);
            send(store, new Command.Release(waits), Reply.Released.class);
            send(store, acquire(claim("a", session, 4)), Reply.Granted.class);
        }
    }

    @Test
    void waiterIsServedThoughTheMessageConnectionWasCut() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            Queue<Signal> signals = new ConcurrentLinkedQueue<>();
            store.subscribe(signals::add);
            SessionId session = session(store, HOUR);
            ClaimRef holder = claim("a", session, 1);
            ClaimRef waits = claim("a", session, 2);
            send(store, acquire(holder), Reply.Granted.class);
            send(store, acquire(waits), Reply.Queued.class);
            server.with(redis -> redis.clientKill(KillArgs.Builder.typePubsub()));
            until("the subscription is made again", () -> signals.contains(new Signal.Resubscribed()));
            send(store, new Command.Release(holder), Reply.Released.class);
            until(
                    "the waiter is told",
                    () -> signals.stream()
                            .anyMatch(signal -> signal instanceof Signal.Granted granted
                                    && granted.claim().equals(waits)));
        }
    }

    @Test
    void fullServerRefusesAndLetsGo() {
        try (TestServer server = TestServer.start("maxmemory-policy", "noeviction");
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            ClaimRef holder = claim("a", session, 1);
            send(store, acquire(holder), Reply.Granted.class);
            server.with(redis -> redis.configSet("maxmemory", "1"));
            StoreException failure = failure(store, acquire(claim("b", session, 2)));
            assertThat(failure.reason()).isEqualTo(Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
            assertThat(failure).hasMessageContaining("maxmemory");
            send(store, new Command.Release(holder), Reply.Released.class);
            server.with(redis -> redis.configSet("maxmemory", "0"));
            send(store, acquire(claim("b", session, 3)), Reply.Granted.class);
        }
    }

    @Test
    void serverThatBecomesAReplicaIsLeftAndFoundAgainWhenItIsThePrimary() {
        try (TestServer server = TestServer.start();
                RedisStore store = server.open()) {
            SessionId session = session(store, HOUR);
            server.with(redis -> redis.replicaof("127.0.0.1", 1));
            StoreException failure = failure(store, acquire(claim("a", session, 1)));
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
            assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
            server.with(redis -> redis.replicaofNoOne());
            until("the server is used again", () -> isServed(store, new Command.KeepAlive(session, 0)));
            send(store, acquire(claim("a", session, 1)), Reply.Granted.class);
        }
    }

    private static boolean isServed(RedisStore store, Command command) {
        return catchThrowable(() -> send(store, command)) == null;
    }
}
