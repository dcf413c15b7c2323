package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.claim;
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
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.Commands;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.machine.Step;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A waiter that a step admits is notified")
class NoticeDeliveryTest {

    private static final ResourceName NAME = new ResourceName("crowd");
    private static final Duration TTL = Duration.ofMinutes(1);

    @AutoClose
    private final SystemTime time = new SystemTime("notice-delivery-test");

    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, () -> 1);
    private final MemoryAdapter adapter = server.connect();
    private final Context context = Context.of(adapter, time, new Lanes(), new ContentionRules());
    private final Facts facts = new Facts(context.sessions());

    @AutoClose
    private final RegisterStore other = RegisterStore.over(server.connect(), time);

    private final ClaimRef holder = new ClaimRef(NAME, session("holder"), 1);

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private SessionId session(String label) {
        return ((Reply.SessionOpened) Commands.answer(other, new Command.OpenSession(TTL, label))).session();
    }

    @CanIgnoreReturnValue
    private ClaimRef waiter(SessionId session, int capacity, Lease lease) {
        ResourceSpec spec = new ResourceSpec(Kind.SEMAPHORE, capacity, Order.FAIR);
        if (!answer(adapter.read(NAME)).state().isPresent()) {
            assertThat(Commands.answer(other, claim(holder, spec, capacity, Lease.SESSION, Waiting.TRY)))
                    .isInstanceOf(Reply.Granted.class);
        }
        ClaimRef waiter = new ClaimRef(NAME, session, 1);
        assertThat(Commands.answer(other, claim(waiter, spec, 1, lease, Waiting.QUEUE)))
                .isInstanceOf(Reply.Queued.class);
        return waiter;
    }

    /** The step in which the holder releases. */
    private Step release() {
        facts.time(ServerTime.NONE);
        Step step = new Step(NAME, answer(adapter.read(NAME)), facts, adapter.traits());
        assertThat(step.execute(new Command.Release(holder)).on(0)).isInstanceOf(Reply.Released.class);
        return step;
    }

    private Map<SessionId, byte[]> mail(Step step) {
        return NoticeDelivery.mail(context, facts, step);
    }

    private static boolean hasState(SessionId session, Map<SessionId, byte[]> mail) {
        return MailCodec.decode(session, mail.getOrDefault(session, new byte[0]))
                .state()
                .isPresent();
    }

    @Test
    @DisplayName("by mail if it is another client's, by a signal if it is this one's, and not at all if it has ended")
    void whom() {
        SessionId others = session("others");
        SessionId dead = session("dead");
        OpenedSession own = answer(adapter.openSession(TTL, "own"));
        context.sessions().opened(own, "own");
        ClaimRef ownClaim = waiter(own.id(), 3, Lease.SESSION);
        waiter(others, 3, Lease.SESSION);
        waiter(dead, 3, Lease.SESSION);
        List<Signal> signals = new ArrayList<>();
        try (var subscription = context.listeners().add(signals::add)) {
            Step step = release();
            facts.gone(dead);
            assertThat(mail(step)).containsOnlyKeys(others);
            NoticeDelivery.signal(context, step, 0);
        }
        assertThat(signals)
                .singleElement()
                .isInstanceOfSatisfying(
                        Signal.Granted.class,
                        granted -> assertThat(granted.claim()).isEqualTo(ownClaim));
    }

    @Test
    @DisplayName("by a signal as soon as its own client has released")
    void byItsOwnClient() {
        ClaimRef waiter = waiter(session("waiter"), 1, Lease.SESSION);
        List<Signal> signals = new ArrayList<>();
        try (var subscription = other.subscribe(signals::add)) {
            assertThat(Commands.answer(other, new Command.Release(holder))).isInstanceOf(Reply.Released.class);
        }
        assertThat(signals)
                .singleElement()
                .isInstanceOfSatisfying(
                        Signal.Granted.class,
                        granted -> assertThat(granted.claim()).isEqualTo(waiter));
    }

    @Test
    @DisplayName("with the state of the record, which saves its next write a read")
    void withState() {
        SessionId waiter = session("waiter");
        waiter(waiter, 4, Lease.SESSION);
        Step step = release();
        assertThat(MailCodec.decode(waiter, mail(step).getOrDefault(waiter, new byte[0]))
                        .state())
                .hasValueSatisfying(
                        state -> assertThat(state).isEqualTo(step.state().orElseThrow()));
    }

    @Test
    @DisplayName("without the state if it must poll for its grant")
    void withoutGrant() {
        SessionId waiter = session("waiter");
        waiter(waiter, 1, Lease.bounded(Duration.ofSeconds(10)));
        assertThat(hasState(waiter, mail(release()))).isFalse();
    }

    @Test
    @DisplayName("without the state if more than four sessions get mail")
    void manySessions() {
        List<SessionId> waiters = new ArrayList<>();
        for (int i = 1; i <= 4; i++) {
            waiters.add(session("waiter"));
            waiter(waiters.get(i - 1), 5, Lease.SESSION);
        }
        assertThat(waiters).allMatch(waiter -> hasState(waiter, mail(release())));
        waiters.add(session("waiter"));
        waiter(waiters.get(4), 5, Lease.SESSION);
        assertThat(waiters).noneMatch(waiter -> hasState(waiter, mail(release())));
    }

    @Test
    @DisplayName("without a state of more than four kilobytes")
    void longState() {
        SessionId waiter = session("waiter");
        waiter(waiter, 1, Lease.SESSION);
        for (int i = 1; i <= 20; i++) {
            waiter(session("l".repeat(255)), 1, Lease.SESSION);
        }
        Step step = release();
        assertThat(step.state().orElseThrow().length).isGreaterThan(4_096);
        assertThat(hasState(waiter, mail(step))).isFalse();
    }
}
