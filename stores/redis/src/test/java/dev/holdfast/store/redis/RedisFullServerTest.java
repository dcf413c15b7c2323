package dev.holdfast.store.redis;

import static dev.holdfast.store.redis.Asking.acquire;
import static dev.holdfast.store.redis.Asking.claim;
import static dev.holdfast.store.redis.Asking.failure;
import static dev.holdfast.store.redis.Asking.send;
import static dev.holdfast.store.redis.Asking.session;
import static dev.holdfast.store.redis.Asking.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server at its {@code maxmemory}: existing locks continue and end as usual, and nothing new is accepted. */
@Tag("server")
class RedisFullServerTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 3, Order.FAIR);

    private final TestServer server = TestServer.start("maxmemory-policy", "noeviction");
    private final RedisStore store = server.open();
    private final SessionId session = session(store, HOUR);

    @AfterEach
    void end() {
        store.close();
        server.close();
    }

    private void fill() {
        server.server().command("CONFIG", "SET", "maxmemory", "1");
    }

    private void drain() {
        server.server().command("CONFIG", "SET", "maxmemory", "0");
    }

    private static Command.Acquire permits(ClaimRef claim, int weight, Lease lease) {
        return new Command.Acquire(claim, 0, Sending.FIRST, PERMITS, weight, lease, Waiting.QUEUE, 1);
    }

    @Test
    void sessionsAreRenewedRetiredAndEnded() {
        SessionId other = session(store, HOUR);
        send(store, acquire(claim("a", other, 1)), Reply.Granted.class);
        fill();
        send(store, new Command.KeepAlive(session, 7), Reply.SessionAlive.class);
        send(store, new Command.KeepAlive(session, 6), Reply.Stale.class);
        send(store, new Command.Retire(session), Reply.Done.class);
        send(store, new Command.KeepAlive(session, 8), Reply.Stale.class);
        send(store, new Command.CloseSession(other), Reply.Done.class);
        send(store, new Command.KeepAlive(other, 0), Reply.SessionEnded.class);
        drain();
        SessionId next = session(store, HOUR);
        send(store, acquire(claim("a", next, 2)), Reply.Granted.class);
    }

    @Test
    void mutexesAreHandedOnAndGivenBack() {
        ClaimRef holder = claim("a", session, 1);
        ClaimRef waits = claim("a", session, 2);
        ClaimRef gone = claim("a", session, 3);
        ClaimRef again = claim("a", session, 4);
        send(store, acquire(holder), Reply.Granted.class);
        send(store, acquire(waits), Reply.Queued.class);
        send(store, acquire(gone), Reply.Queued.class);
        fill();
        send(store, new Command.Withdraw(gone, Sending.FIRST), Reply.Done.class);
        send(store, new Command.Yield(holder, acquire(again)), Reply.Queued.class);
        assertThat(polled(waits)).isInstanceOf(Reply.Granted.class);
        assertThat(polled(gone)).isInstanceOf(Reply.Absent.class);
        send(store, new Command.Release(waits), Reply.Released.class);
        Reply.Granted granted = (Reply.Granted) polled(again);
        send(store, new Command.Advance(again, granted.tokens().last(), 8, 0), Reply.Advanced.class);
        send(store, new Command.ForceRelease(new ResourceName("a"), lastToken(again)), Reply.Released.class);
        assertThat(polled(again)).isInstanceOf(Reply.Absent.class);
    }

    @Test
    void permitsAreHandedOnGivenBackAndPutOff() {
        ClaimRef holder = claim("p", session, 1);
        ClaimRef bounded = claim("p", session, 2);
        ClaimRef behind = claim("p", session, 3);
        send(store, permits(holder, 3, Lease.SESSION), Reply.Granted.class);
        send(store, permits(bounded, 1, Lease.bounded(HOUR)), Reply.Queued.class);
        send(store, permits(behind, 2, Lease.SESSION), Reply.Queued.class);
        fill();
        send(store, new Command.ShrinkTo(holder, 2), Reply.Done.class);
        assertThat(polled(bounded)).isInstanceOf(Reply.Granted.class);
        send(store, new Command.Extend(bounded, 1, HOUR), Reply.Extended.class);
        ClaimRef again = claim("p", session, 4);
        send(store, new Command.Yield(holder, permits(again, 1, Lease.SESSION)), Reply.Queued.class);
        assertThat(polled(behind)).isInstanceOf(Reply.Granted.class);
        send(store, new Command.Release(bounded), Reply.Released.class);
        assertThat(polled(again)).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void latchIsCountedDown() {
        ResourceName latch = new ResourceName("start");
        send(store, new Command.SetCount(latch, session, 0, 1, 1), Reply.Count.class);
        fill();
        Reply.Count count = send(store, new Command.CountDown(latch, 1, "one", 1), Reply.Count.class);
        assertThat(count).isEqualTo(new Reply.Count(1, 0));
    }

    @Test
    void whatIsDueEndsAndTheNextOneHasIt() {
        SessionId brief = session(store, Duration.ofMillis(200));
        ClaimRef waits = claim("a", session, 2);
        send(store, acquire(claim("a", brief, 1)), Reply.Granted.class);
        send(store, acquire(waits), Reply.Queued.class);
        fill();
        until("the next one has it", () -> polled(waits) instanceof Reply.Granted);
        send(store, new Command.Release(waits), Reply.Released.class);
    }

    /** Each alone in its call, so that nothing was released before it. */
    @Test
    void whatIsNewIsDeniedWithTheReasonAndWithoutEffect() {
        send(store, acquire(claim("held", session, 1)), Reply.Granted.class);
        send(store, permits(claim("permits", session, 2), 1, Lease.SESSION), Reply.Granted.class);
        ResourceName latch = new ResourceName("latch");
        List<Command> fresh = List.of(
                acquire(claim("free", session, 10)),
                acquire(claim("held", session, 11)),
                permits(claim("other", session, 12), 1, Lease.SESSION),
                permits(claim("permits", session, 13), 1, Lease.SESSION),
                permits(claim("permits", session, 14), 3, Lease.SESSION),
                permits(claim("permits", session, 15), 1, Lease.bounded(HOUR)),
                permits(claim("other", session, 16), 1, Lease.detached(HOUR)),
                new Command.SetCount(latch, session, 0, 1, 5),
                new Command.OpenSession(HOUR, "late"));
        String before = records();
        fill();
        for (Command command : fresh) {
            StoreException failure = failure(store, command);
            assertThat(failure).as("%s", command).hasMessageContaining("maxmemory");
            assertThat(failure.reason()).isEqualTo(Reason.DENIED);
            assertThat(failure.effect()).isEqualTo(Effect.NONE);
        }
        assertThat(records()).isEqualTo(before);
        // Retries are answered, and reading is not writing.
        send(store, acquire(claim("held", session, 1)), Reply.Granted.class);
        assertThat(send(store, new Command.Inspect("", Optional.empty(), 10), Reply.Inspected.class)
                        .resources())
                .hasSize(2);
    }

    /** A call that met the limit in a permitted command still accepts nothing new. */
    @Test
    void claimThatLeavesWithAKeepAliveIsDenied() {
        fill();
        List<Command> batch = List.of(new Command.KeepAlive(session, 0), acquire(claim("a", session, 1)));
        server.server().process().pause();
        List<CompletableFuture<Reply>> answers;
        try {
            // Two batches with one command each are in flight; later commands form one batch.
            begin(new Command.Poll(List.of(claim("a", session, 9))));
            begin(new Command.Poll(List.of(claim("a", session, 9))));
            answers = batch.stream().map(this::begin).toList();
        } finally {
            server.server().process().resume();
        }
        assertThat(answers.get(0).orTimeout(60, TimeUnit.SECONDS).join()).isInstanceOf(Reply.SessionAlive.class);
        assertThatThrownBy(() -> answers.get(1).orTimeout(60, TimeUnit.SECONDS).join())
                .hasCauseInstanceOf(StoreException.class)
                .hasMessageContaining("maxmemory");
    }

    /** A whole client: it renews and releases its holds, and learns why it gets no more. */
    @Test
    void clientRenewsAndReleasesItsLocks() throws Exception {
        try (Holdfast holdfast = Holdfast.builder(server.server().uri())
                .sessionTtl(Duration.ofSeconds(20))
                .keepAliveEvery(Duration.ofMillis(50))
                .build()) {
            Hold hold = holdfast.lock("ledger").acquire();
            fill();
            long before = deadline(hold);
            until("the lease is renewed", () -> deadline(hold) - before > TimeUnit.MILLISECONDS.toNanos(500));
            assertThat(hold.isHeld()).isTrue();
            assertThatThrownBy(() -> holdfast.lock("other").acquire(Duration.ofMinutes(1)))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("maxmemory");
            hold.close();
            drain();
            holdfast.lock("other").acquire(Duration.ofMinutes(1)).close();
        }
    }

    private static long deadline(Hold hold) {
        return System.nanoTime() + hold.remaining().toNanos();
    }

    @CanIgnoreReturnValue
    private CompletableFuture<Reply> begin(Command command) {
        return store.execute(command, CallerMode.ASYNC).toCompletableFuture();
    }

    private Reply polled(ClaimRef claim) {
        return send(store, new Command.Poll(List.of(claim)), Reply.Polled.class)
                .states()
                .get(0);
    }

    private long lastToken(ClaimRef claim) {
        return ((Reply.Granted) polled(claim)).tokens().last();
    }

    /** All that is on the server. */
    /** The fields by name: the server answers them in another order once it has grown its hash table. */
    private String records() {
        Map<String, String> fields = new TreeMap<>();
        Iterator<Object> answers =
                server.server().command("HGETALL", "holdfast:{0}:h").iterator();
        while (answers.hasNext()) {
            fields.put(String.valueOf(answers.next()), String.valueOf(answers.next()));
        }
        return String.join(
                "\n",
                fields.toString(),
                server.server().command("ZRANGE", "holdfast:{0}:d", "0", "-1").toString(),
                server.server().command("ZRANGE", "holdfast:{0}:o", "0", "-1").toString());
    }
}
