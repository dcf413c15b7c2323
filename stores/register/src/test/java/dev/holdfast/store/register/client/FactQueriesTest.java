package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.claim;
import static dev.holdfast.store.register.Commands.mutex;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.Commands;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.machine.Answer;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A round that lacks facts")
class FactQueriesTest {

    private static final ResourceName NAME = new ResourceName("facts");
    private static final Duration TTL = Duration.ofSeconds(40);

    private final AtomicLong micros = new AtomicLong(1);

    @AutoClose
    private final SystemTime timers = new SystemTime("fact-queries-test");

    private final ManualTime time = new ManualTime(micros, timers);
    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, micros::get);
    private final MemoryAdapter adapter = server.connect();
    private final Context context = Context.of(adapter, time, new Lanes(), new ContentionRules());

    @AutoClose
    private final RegisterStore other = RegisterStore.over(server.connect(), time);

    private Facts facts = new Facts(context.sessions());

    @CanIgnoreReturnValue
    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private FactQueries queries() {
        return new FactQueries(context, facts);
    }

    private Answer answerOf(Acquire command) {
        facts.time(ServerTime.NONE);
        return new Step(NAME, answer(adapter.read(NAME)), facts, adapter.traits()).execute(command);
    }

    private static ClaimRef ref(SessionId session) {
        return new ClaimRef(NAME, session, 1);
    }

    @Test
    @DisplayName("opens the lease that is to begin, asks for unknown sessions, and ends a lease without a claim")
    void missingFacts() {
        SessionId unknown = Commands.open(other, TTL);
        Duration length = Duration.ofSeconds(10);
        Acquire command = claim(ref(unknown), ResourceSpec.MUTEX, 1, Lease.bounded(length), Waiting.QUEUE);
        var incomplete = answerOf(command);
        assertThat(facts.isComplete()).isFalse();
        answer(queries().complete());
        assertThat(answerOf(command).on(0)).isInstanceOf(Reply.Granted.class);
        assertThat(facts.isComplete()).isTrue();
        Set<SessionId> leases = facts.openedLeases();
        assertThat(answer(adapter.remaining(leases))).hasSize(1).containsValue(length);
        queries().endLeases(leases);
        assertThat(answer(adapter.sessions(leases))).isEmpty();
    }

    @Test
    @DisplayName("asks for remaining times once, and again when they may have been renewed")
    void remainingTimes() {
        SessionId holder = Commands.open(other, TTL);
        assertThat(Commands.answer(other, mutex(ref(holder), Waiting.TRY))).isInstanceOf(Reply.Granted.class);
        OpenedSession own = answer(adapter.openSession(Duration.ofHours(1), "own"));
        context.sessions().opened(own, "own");
        Acquire waits = mutex(ref(own.id()), Waiting.QUEUE);
        assertThat(recheck(waits)).isEqualTo(TTL);
        long before = server.requests();
        micros.addAndGet(9_000_000);
        assertThat(recheck(waits)).isEqualTo(TTL.minusSeconds(9));
        assertThat(server.requests() - before).as("the read of the record").isEqualTo(1);
        micros.addAndGet(2_000_000);
        assertThat(Commands.answer(other, new Command.KeepAlive(holder, 0, Duration.ofSeconds(1))))
                .isInstanceOf(Reply.SessionAlive.class);
        assertThat(recheck(waits)).isEqualTo(TTL);
    }

    /** When a waiter checks again. */
    private Duration recheck(Acquire waits) {
        facts = new Facts(context.sessions());
        Answer queued = answerOf(waits);
        answer(queries().remaining());
        return ((Reply.Queued) queued.on(0)).recheckIn();
    }
}
