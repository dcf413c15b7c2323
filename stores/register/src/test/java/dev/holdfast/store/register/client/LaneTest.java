package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.ArrivalCodec;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A client that shares a lock with others")
class LaneTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final Duration TTL = Duration.ofMinutes(1);

    /** How long a write takes. */
    private static final long WRITE_MICROS = 1_000;

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, micros::get);

    @AutoClose
    private final SystemTime system = new SystemTime("lane-test");

    /** What happens later. */
    private final List<Runnable> timers = new ArrayList<>();

    private Set<?> watched = Set.of();

    /** What happens when no session is watched any more. */
    private Runnable whenUnwatched = () -> {};

    @AutoClose
    private final RegisterStore other = RegisterStore.over(server.connect(), new ManualTime(micros, system));

    @AutoClose
    private final RegisterStore store = RegisterStore.over(adapter(), new CollectedTimers());

    private final SessionId session = open(store, TTL);
    private final SessionId others = open(other, TTL);
    private long claims;

    private RegisterAdapter adapter() {
        RegisterAdapter memory = server.connect();
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("watchSessions")) {
                        watched = (Set<?>) arguments[0];
                        if (watched.isEmpty()) {
                            whenUnwatched.run();
                        }
                    }
                    if (method.getName().equals("write")) {
                        micros.addAndGet(WRITE_MICROS);
                    }
                    return method.invoke(memory, arguments);
                });
    }

    private final class CollectedTimers extends ManualTime {

        CollectedTimers() {
            super(micros, system);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            if (delayNanos < TTL.toNanos()) {
                timers.add(task);
            }
            return () -> {};
        }
    }

    private ClaimRef claim(SessionId session) {
        return new ClaimRef(NAME, session, ++claims);
    }

    private static void acquire(RegisterStore store, ClaimRef claim) {
        assertThat(answer(store, mutex(claim, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
    }

    private static void release(RegisterStore store, ClaimRef claim) {
        assertThat(answer(store, new Command.Release(claim))).isInstanceOf(Reply.Released.class);
    }

    /** Holds the lock until another client waits for it, which then has it. */
    private ClaimRef handOver(boolean isContended) {
        ClaimRef held = claim(session);
        acquire(store, held);
        ClaimRef waiting = claim(others);
        assertThat(answer(other, mutex(waiting, Waiting.QUEUE))).isInstanceOf(Reply.Queued.class);
        assertThat(answer(store, new Command.Poll(List.of(held)))).isInstanceOf(Reply.Polled.class);
        assertThat(watched).isEqualTo(Set.of(others));
        if (isContended) {
            announceOneThatGivesUp();
        }
        release(store, held);
        return waiting;
    }

    private void announceOneThatGivesUp() {
        MemoryAdapter third = server.connect();
        SessionId one =
                third.openSession(TTL, "third").toCompletableFuture().join().id();
        Arrival arrival = ArrivalCodec.encode(
                mutex(new ClaimRef(NAME, one, 1), Waiting.QUEUE), new SessionRecord(0, "third", TTL));
        assertThat(third.announce(arrival, Map.of(session, MailCodec.encode(arrival, 1)))
                        .toCompletableFuture()
                        .join())
                .contains(0L);
        server.close(one);
    }

    @Test
    @DisplayName("watches their sessions until it has released the lock")
    void untilTheRelease() {
        var unused = handOver(false);
        assertThat(watched).isEmpty();
        assertThat(timers).isEmpty();
    }

    @Test
    @DisplayName("watches them for a moment longer where many compete, and executes what comes when that ends")
    void inACompetition() {
        for (int i = 0; i < 2; i++) {
            ClaimRef next = handOver(true);
            assertThat(watched).isEqualTo(Set.of(others));
            List<CompletableFuture<Reply>> replies = new ArrayList<>();
            whenUnwatched = () -> replies.add(store.execute(mutex(claim(session), Waiting.TRY), CallerMode.ASYNC)
                    .toCompletableFuture());
            assertThat(timers).hasSize(1);
            timers.remove(0).run();
            assertThat(watched).isEmpty();
            assertThat(replies)
                    .singleElement()
                    .satisfies(
                            reply -> assertThat(reply).isCompletedWithValueMatching(Reply.Refused.class::isInstance));
            release(other, next);
        }
    }

    @Test
    @DisplayName("keeps watching them if it waits for the lock again")
    void ifItWaitsAgain() {
        ClaimRef next = handOver(true);
        Runnable unwatch = timers.remove(0);
        CompletableFuture<Reply> reply = announced(claim(session));
        while (!timers.isEmpty()) {
            timers.remove(0).run();
        }
        assertThat(reply).isCompletedWithValueMatching(Reply.Queued.class::isInstance);
        unwatch.run();
        assertThat(watched).isEqualTo(Set.of(others));
        release(other, next);
    }

    /** Requests the lock while another client has it and others compete, so that the claim is announced. */
    private CompletableFuture<Reply> announced(ClaimRef claim) {
        CompletableFuture<Reply> reply =
                store.execute(mutex(claim, Waiting.QUEUE), CallerMode.ASYNC).toCompletableFuture();
        assertThat(reply).isNotDone();
        assertThat(server.connect().arrivals(NAME).toCompletableFuture().join().waiting())
                .hasSize(1);
        return reply;
    }

    @Test
    @DisplayName("learns from mail that its announced claim was granted, and does not wait for the end of a pause")
    void grantByMail() {
        ClaimRef held = handOver(true);
        CompletableFuture<Reply> reply = announced(claim(session));
        release(other, held);
        assertThat(reply).isCompletedWithValueMatching(Reply.Granted.class::isInstance);
    }

    @Test
    @DisplayName("withdraws a claim that it has announced without waiting for the end of a pause")
    void withdrawal() {
        ClaimRef held = handOver(true);
        ClaimRef claim = claim(session);
        CompletableFuture<Reply> reply = announced(claim);
        assertThat(store.execute(new Command.Withdraw(claim, Command.Sending.FIRST), CallerMode.ASYNC))
                .isCompleted();
        assertThat(reply).isCompletedWithValueMatching(Reply.Queued.class::isInstance);
        release(other, held);
        acquire(other, claim(others));
    }
}
