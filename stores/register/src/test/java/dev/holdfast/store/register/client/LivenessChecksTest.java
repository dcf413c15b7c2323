package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.claim;
import static dev.holdfast.store.register.Commands.mutex;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.Commands;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A round finds out whether a session lives")
class LivenessChecksTest {

    private static final ResourceName NAME = new ResourceName("crowd");
    private static final ResourceSpec CROWD = new ResourceSpec(Kind.SEMAPHORE, 100, Order.FAIR);
    private static final Duration TTL = Duration.ofMinutes(1);

    @AutoClose
    private final SystemTime time = new SystemTime("liveness-checks-test");

    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, () -> 1);
    private final MemoryAdapter adapter = server.connect();
    private final Context context = Context.of(adapter, time, new Lanes(), new ContentionRules());
    private final Facts facts = new Facts(context.sessions());
    private final FactQueries queries = new FactQueries(context, facts);

    @AutoClose
    private final RegisterStore other = RegisterStore.over(server.connect(), time);

    @CanIgnoreReturnValue
    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private SessionId own() {
        OpenedSession opened = answer(adapter.openSession(TTL, "own"));
        context.sessions().opened(opened, "own");
        return opened.id();
    }

    private SessionId others() {
        return Commands.open(other, TTL);
    }

    private static ClaimRef ref(SessionId session) {
        return new ClaimRef(NAME, session, 1);
    }

    private SessionId holder() {
        SessionId holder = others();
        assertThat(Commands.answer(other, claim(ref(holder), CROWD, 1, Lease.SESSION, Waiting.TRY)))
                .isInstanceOf(Reply.Granted.class);
        return holder;
    }

    private Step step(Command.OnResource... commands) {
        facts.time(ServerTime.NONE);
        Step step = new Step(NAME, answer(adapter.read(NAME)), facts, adapter.traits());
        for (Command.OnResource command : commands) {
            var unused = step.execute(command);
        }
        return step;
    }

    private LivenessChecks checks(int turn, LaneCall... calls) {
        return new LivenessChecks(context, List.of(calls), queries, turn);
    }

    @Test
    @DisplayName("before a write, unless it is its own, watched, or a condition of the write")
    void beforeAWrite() {
        SessionId unknown = holder();
        SessionId watched = holder();
        SessionId releasing = holder();
        SessionId own = own();
        context.watches().replace(Set.of(), Set.of(watched));
        Step step = step(new Command.Release(ref(releasing)), claim(ref(own), CROWD, 1, Lease.SESSION, Waiting.QUEUE));
        assertThat(step.isChange()).isTrue();
        assertThat(checks(0).beforeWrite(step)).containsExactly(unknown);
        answer(queries.verify(Set.of(unknown)));
        assertThat(checks(0).beforeWrite(step)).isEmpty();
    }

    @Test
    @DisplayName("before an answer without a write, though it is its own or watched")
    void beforeAnAnswer() {
        SessionId watched = holder();
        SessionId own = own();
        SessionId polling = own();
        context.watches().replace(Set.of(), Set.of(watched));
        Step step = step(claim(ref(own), CROWD, 100, Lease.SESSION, Waiting.TRY));
        assertThat(step.isChange()).isFalse();
        LaneCall poll = LaneCall.poll(ref(polling));
        assertThat(checks(0, poll).beforeAnswer(step)).containsExactlyInAnyOrder(watched, own, polling);
        answer(queries.verify(Set.of(own, watched)));
        assertThat(checks(0, poll).beforeAnswer(step)).containsExactly(polling);
    }

    @Test
    @DisplayName("of the first of many holders each time, and of the others in turn")
    void ofManyHolders() {
        List<SessionId> holders = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            holders.add(holder());
        }
        List<SessionId> first = holders.subList(0, LivenessChecks.MOST_DECISIVE);
        assertThat(checks(0).beforeWrite(step())).containsExactlyInAnyOrderElementsOf(first);
        Set<SessionId> checked = new HashSet<>();
        for (int turn = 0; turn < 2; turn++) {
            Set<SessionId> now = checks(turn).beforeAnswer(step());
            assertThat(now).containsAll(first).hasSizeLessThan(100);
            checked.addAll(now);
        }
        assertThat(checked).containsExactlyInAnyOrderElementsOf(holders);
    }

    @Test
    @DisplayName("and takes it for ended, in this step and later ones, if the server does not know it")
    void endedSessions() {
        SessionId dead = holder();
        SessionId living = holder();
        SessionId own = own();
        assertThat(answer(adapter.raiseEpoch(own, 3))).contains(3L);
        answer(server.connect().closeSession(dead));
        assertThat(queries.isSettled(dead)).isFalse();
        answer(queries.verify(Set.of(dead, living, own)));
        assertThat(queries.isSettled(dead)).isTrue();
        assertThat(queries.isSettled(living)).isTrue();
        assertThat(facts.isGone(dead)).isTrue();
        assertThat(facts.isGone(living)).isFalse();
        assertThat(context.sessions().isGone(dead)).isTrue();
        assertThat(context.sessions().isGone(living)).isFalse();
        assertThat(context.sessions().epoch(own)).isEqualTo(3);
        assertThat(step().view().holders()).containsExactly(ref(living));
        assertThat(step(mutex(ref(dead), Waiting.TRY)).writers()).isEmpty();
    }
}
