package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.servers.RedisServer;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One of the keys is lost, evicted or deleted by hand: its data is lost, and everything else continues within a ttl.
 */
@Tag("server")
class RedisLostKeysTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 20, Order.FAIR);

    private enum Steps {
        LARGE,
        SMALL
    }

    private RedisUnderTest bench = RedisUnderTest.onManualTime();
    private LockStore store = bench.first();

    private void use(Steps steps) {
        if (steps == Steps.SMALL) {
            bench.close();
            bench = RedisUnderTest.inSmallSteps();
            store = bench.first();
        }
    }

    @AfterEach
    void end() {
        bench.close();
    }

    private void lose(String letters) {
        RedisServer server = TestServer.shared().server();
        letters.chars()
                .forEach(letter -> assertThat(server.command("DEL", bench.key((char) letter)))
                        .containsExactly(1L));
    }

    private boolean isThere(char letter) {
        return TestServer.shared().server().command("EXISTS", bench.key(letter)).equals(List.of(1L));
    }

    private static Command.Acquire permits(ClaimRef claim, int weight, Lease lease) {
        return new Command.Acquire(claim, 0, Sending.FIRST, PERMITS, weight, lease, Waiting.QUEUE, 1);
    }

    private Reply polled(ClaimRef claim) {
        return send(store, new Command.Poll(List.of(claim)), Reply.Polled.class)
                .states()
                .get(0);
    }

    private void untilGranted(ClaimRef claim) {
        until(claim + " is granted", () -> polled(claim) instanceof Reply.Granted);
    }

    /** A while later all is as if nothing had been lost, and when all sessions have ended nothing is left. */
    private void endAll(SessionId... sessions) {
        for (SessionId each : sessions) {
            send(store, new Command.CloseSession(each), Reply.Done.class);
        }
        until("nothing is left but the counter", () -> {
            send(store, new Command.Poll(List.of(claim("nothing", sessions[0], 999))), Reply.Polled.class);
            return !isThere('d') && !isThere('o');
        });
        assertThat(TestServer.shared().server().command("HLEN", bench.key('h'))).containsExactly(1L);
    }

    /**
     * The last session takes the marks with it that say that nothing is lost; one that comes in the same call brings
     * them.
     */
    @Test
    void whoComesWhenTheLastHasExpiredFindsNothingLost() {
        for (int i = 0; i < 3; i++) {
            SessionId last = session(store, TTL);
            send(store, acquire(claim("ledger", last, 1)), Reply.Granted.class);
            bench.advance(TTL.multipliedBy(2));
            SessionId next = session(store, TTL);
            send(store, new Command.Audit(next, Optional.empty(), 100), Reply.Audited.class);
            send(store, acquire(claim("ledger", next, 1)), Reply.Granted.class);
            send(store, new Command.CloseSession(next), Reply.Done.class);
        }
    }

    @Test
    void whoComesWhileTheLastLeavesFindsNothingLost() {
        SessionId present = session(store, TTL);
        for (int i = 0; i < 50; i++) {
            // What is under way has these two go together.
            CompletionStage<Reply> first = store.execute(new Command.KeepAlive(present, 0), CallerMode.ASYNC);
            CompletionStage<Reply> left = store.execute(new Command.CloseSession(present), CallerMode.ASYNC);
            present = session(store, TTL);
            send(store, new Command.Audit(present, Optional.empty(), 100), Reply.Audited.class);
            assertThat(first.toCompletableFuture().join()).isInstanceOf(Reply.SessionAlive.class);
            assertThat(left.toCompletableFuture().join()).isInstanceOf(Reply.Done.class);
        }
        endAll(present);
    }

    @ParameterizedTest
    @EnumSource
    void deadlinesAreLostAndDeadHoldersMakeWay(Steps steps) {
        use(steps);
        SessionId alive = session(store, HOUR);
        List<SessionId> dead = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            dead.add(session(store, TTL));
            send(store, permits(claim("p", dead.get(i - 1), i), 1, Lease.SESSION), Reply.Granted.class);
        }
        send(store, acquire(claim("a", dead.get(3), 31)), Reply.Granted.class);
        ClaimRef waits = claim("a", alive, 41);
        ClaimRef all = claim("p", alive, 42);
        send(store, acquire(waits), Reply.Queued.class);
        send(store, permits(all, 20, Lease.SESSION), Reply.Queued.class);
        lose("d");
        bench.advance(TTL);
        untilGranted(waits);
        untilGranted(all);
        endAll(alive);
    }

    /** No session is renewed any more, and later claims find the names free. */
    @ParameterizedTest
    @EnumSource
    void deadlinesAreLostWithAllWhoLived(Steps steps) {
        use(steps);
        List<SessionId> dead =
                IntStream.range(0, 20).mapToObj(i -> session(store, TTL)).toList();
        for (int i = 0; i < 20; i++) {
            send(store, permits(claim("p", dead.get(i), i + 1), 1, Lease.SESSION), Reply.Granted.class);
        }
        lose("d");
        SessionId fresh = session(store, HOUR);
        bench.advance(TTL);
        ClaimRef all = claim("p", fresh, 42);
        until("all is free", () -> send(store, permits(all, 20, Lease.SESSION)) instanceof Reply.Granted);
        endAll(fresh);
    }

    @ParameterizedTest
    @EnumSource
    void deadlinesAreLostAndLeasesEndAllTheSame(Steps steps) {
        use(steps);
        SessionId brief = session(store, TTL);
        SessionId alive = session(store, HOUR);
        send(store, permits(claim("p", alive, 1), 5, Lease.bounded(TTL)), Reply.Granted.class);
        send(store, permits(claim("p", alive, 2), 5, Lease.detached(TTL)), Reply.Granted.class);
        send(store, permits(claim("p", brief, 3), 10, Lease.SESSION), Reply.Granted.class);
        ResourceName latch = new ResourceName("latch");
        send(store, new Command.SetCount(latch, alive, 0, 1, 1), Reply.Count.class);
        send(store, new Command.CountDown(latch, 1, "one", 1), Reply.Count.class);
        lose("d");
        bench.advance(TTL);
        ClaimRef all = claim("p", alive, 4);
        until("all is free", () -> send(store, permits(all, 20, Lease.SESSION)) instanceof Reply.Granted);
        bench.advance(Duration.ofDays(2));
        SessionId next = session(store, HOUR);
        endAll(next);
    }

    @ParameterizedTest
    @EnumSource
    void placesAreLostAndFoundAgain(Steps steps) {
        use(steps);
        SessionId session = session(store, HOUR);
        List<ClaimRef> all =
                IntStream.range(1, 60).mapToObj(i -> claim("p", session, i)).toList();
        ask(all.stream().map(each -> permits(each, each.claim() <= 30 ? 1 : 2, Lease.SESSION)));
        lose("o");
        for (ClaimRef claim : all) {
            untilGranted(claim);
            send(store, new Command.Release(claim), Reply.Released.class);
        }
        endAll(session);
    }

    @ParameterizedTest
    @EnumSource
    void placesAreLostAndAHolderIsForcedOut(Steps steps) {
        use(steps);
        SessionId session = session(store, HOUR);
        List<ClaimRef> all =
                IntStream.range(1, 60).mapToObj(i -> claim("a", session, i)).toList();
        ask(all.stream().map(Asking::acquire));
        Reply.Granted grant = (Reply.Granted) polled(all.get(0));
        lose("o");
        send(
                store,
                new Command.ForceRelease(new ResourceName("a"), grant.tokens().last()),
                Reply.Released.class);
        untilGranted(all.get(1));
        endAll(session);
    }

    /** A claim that an audit does not list counts as lost, so there is none until all are found again. */
    @ParameterizedTest
    @EnumSource
    void placesAreLostAndNoHoldIsLostWithThem(Steps steps) {
        use(steps);
        SessionId session = session(store, HOUR);
        List<ClaimRef> all =
                IntStream.range(1, 20).mapToObj(i -> claim("p", session, i)).toList();
        ask(all.stream().map(each -> permits(each, 1, Lease.bounded(HOUR))));
        Command audit = new Command.Audit(session, Optional.empty(), 100);
        lose("o");
        StoreException failure = failure(store, audit);
        assertThat(failure.reason()).isEqualTo(Reason.UNAVAILABLE);
        assertThat(failure.effect()).isEqualTo(Effect.NONE);
        until("the audit is answered", () -> catchThrowable(() -> send(store, audit)) == null);
        assertThat(send(store, audit, Reply.Audited.class).granted()).containsExactlyInAnyOrderElementsOf(all);
        endAll(session);
    }

    /** The claims of a dead session are found by places that were lost with its deadline. */
    @ParameterizedTest
    @ValueSource(strings = {"o", "do"})
    void placesAreLostAndDeadHoldersMakeWay(String letters) {
        for (Steps steps : Steps.values()) {
            use(steps);
            SessionId dead = session(store, TTL);
            SessionId alive = session(store, HOUR);
            for (int i = 1; i <= 20; i++) {
                Lease lease = i % 2 == 0 ? Lease.SESSION : Lease.bounded(HOUR);
                send(store, permits(claim("p", dead, i), 1, lease), Reply.Granted.class);
            }
            ClaimRef all = claim("p", alive, 42);
            send(store, permits(all, 20, Lease.SESSION), Reply.Queued.class);
            lose(letters);
            bench.advance(TTL);
            untilGranted(all);
            endAll(alive);
        }
    }

    @ParameterizedTest
    @EnumSource
    void namesAreLostAndUsedAgain(Steps steps) {
        use(steps);
        SessionId before = session(store, HOUR);
        ask(IntStream.range(1, 60).mapToObj(i -> permits(claim("p", before, i), i % 2 + 1, Lease.SESSION)));
        Reply.Granted old = (Reply.Granted) polled(claim("p", before, 1));
        lose("h");
        send(store, new Command.KeepAlive(before, 0), Reply.SessionEnded.class);
        assertThat(polled(claim("p", before, 1))).isInstanceOf(Reply.Absent.class);
        // As far as the newest token may be ahead of the clock.
        bench.advance(Duration.ofMillis(20));
        SessionId next = session(store, HOUR);
        for (int i = 1; i <= 60; i++) {
            ClaimRef claim = claim("p", next, 100 + i);
            Reply answer = send(store, permits(claim, i % 2 + 1, Lease.SESSION));
            if (answer instanceof Reply.Granted granted) {
                assertThat(granted.tokens().first()).isGreaterThan(old.tokens().last());
            }
        }
        for (int i = 1; i <= 60; i++) {
            untilGranted(claim("p", next, 100 + i));
            send(store, new Command.Release(claim("p", next, 100 + i)), Reply.Released.class);
        }
        bench.advance(HOUR);
        endAll(session(store, HOUR));
    }

    /** Deleted fields can't be restored: their waiters are lost, but the name stays usable. */
    @ParameterizedTest
    @EnumSource
    void recordsAreLostAndTheNameGoesOn(Steps steps) {
        use(steps);
        SessionId session = session(store, HOUR);
        List<ClaimRef> all =
                IntStream.range(1, 60).mapToObj(i -> claim("a", session, i)).toList();
        ask(all.stream().map(Asking::acquire));
        all.forEach(each -> delete("'\\255k" + session.value() + "|1|a|" + each.claim() + "'"));
        ClaimRef last = claim("a", session, 99);
        until("it is free", () -> {
            all.forEach(each -> send(store, new Command.Withdraw(each, Sending.FIRST), Reply.Done.class));
            return send(store, acquire(last)) instanceof Reply.Granted;
        });
        send(store, new Command.Release(last), Reply.Released.class);
        until("it is free again", () -> send(store, acquire(claim("a", session, 100))) instanceof Reply.Granted);
        endAll(session);
    }

    /** A damaged record is left as it is until a person deletes it, and commands on it report that. */
    @ParameterizedTest
    @EnumSource
    void recordThatAPersonMustRemoveIsTold(Steps steps) {
        use(steps);
        SessionId session = session(store, HOUR);
        ask(IntStream.range(1, 60).mapToObj(i -> acquire(claim("a", session, i))));
        RedisServer server = TestServer.shared().server();
        server.command("HSET", bench.key('h'), "a", "nonsense");
        for (Command command : List.of(
                acquire(claim("a", session, 99)),
                new Command.Release(claim("a", session, 1)),
                new Command.ForceRelease(new ResourceName("a"), 1))) {
            StoreException failure = failure(store, command);
            assertThat(failure.reason()).isEqualTo(Reason.CORRUPT);
            assertThat(failure).hasMessageContaining(bench.key('h')).hasMessageContaining("docs/operations.md");
        }
        send(store, acquire(claim("b", session, 100)), Reply.Granted.class);
        // As the manual tells operators.
        delete("'a'");
        server.command("DEL", bench.key('d'), bench.key('o'));
        send(store, acquire(claim("a", session, 101)), Reply.Granted.class);
        send(store, new Command.Release(claim("b", session, 100)), Reply.Released.class);
        bench.advance(HOUR);
        endAll(session(store, HOUR));
    }

    private void delete(String field) {
        TestServer.shared()
                .server()
                .command("EVAL", "return redis.call('HDEL', KEYS[1], " + field + ")", "1", bench.key('h'));
    }

    private void ask(Stream<Command.Acquire> commands) {
        commands.forEach(
                each -> assertThat(send(store, each)).isInstanceOfAny(Reply.Granted.class, Reply.Queued.class));
    }
}
