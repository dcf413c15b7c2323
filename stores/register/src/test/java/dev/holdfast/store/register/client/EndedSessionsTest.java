package dev.holdfast.store.register.client;

import static dev.holdfast.store.register.Commands.answer;
import static dev.holdfast.store.register.Commands.mutex;
import static dev.holdfast.store.register.Commands.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterAdapter;
import dev.holdfast.store.register.RegisterListener;
import dev.holdfast.store.register.RegisterTraits.Clock;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("When a session ends,")
class EndedSessionsTest {

    private static final ResourceName NAME = new ResourceName("ledger");
    private static final Duration TTL = Duration.ofMinutes(1);

    /** More than the lanes that a client remembers while it holds something. */
    private static final int MANY = 2_000;

    /** How long all pauses are that have a random length. */
    private static final long PAUSE_NANOS = 5_000_000;

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final MemoryRegister server = new MemoryRegister(Clock.REVISIONS, micros::get);

    @AutoClose
    private final SystemTime system = new SystemTime("ended-sessions-test");

    private final List<Pause> pauses = new ArrayList<>();

    private record Pause(long nanos, Runnable next) {}

    /** Learns nothing of the ends of sessions, so that others must act. */
    @AutoClose
    private final RegisterStore uninformed = over(unlessEnded(server.connect()));

    @AutoClose
    private final RegisterStore another = over(unlessEnded(server.connect()));

    @AutoClose
    private final RegisterStore store = over(server.connect());

    private final SessionId session = open(store, TTL);
    private final ClaimRef own = new ClaimRef(NAME, session, 1);
    private final ClaimRef others = new ClaimRef(NAME, open(uninformed, TTL), 1);

    private RegisterStore over(RegisterAdapter adapter) {
        return RegisterStore.over(adapter, new CollectedTimers());
    }

    /** An adapter that reports no end of a session. */
    private static RegisterAdapter unlessEnded(MemoryAdapter memory) {
        return (RegisterAdapter) Proxy.newProxyInstance(
                RegisterAdapter.class.getClassLoader(),
                new Class<?>[] {RegisterAdapter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("listen")) {
                        memory.listen(new MailOnly((RegisterListener) arguments[0]));
                        return null;
                    }
                    return method.invoke(memory, arguments);
                });
    }

    private record MailOnly(RegisterListener all) implements RegisterListener {

        @Override
        public void delivered(SessionId session, byte[] mail, RecordVersion record) {
            all.delivered(session, mail, record);
        }

        @Override
        public void gone(SessionId session) {}

        @Override
        public void resubscribed() {}
    }

    /** A clock that the test moves, and pauses that it ends. */
    private final class CollectedTimers extends ManualTime {

        CollectedTimers() {
            super(micros, system);
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            if (delayNanos <= TTL.toNanos() / 2) {
                pauses.add(new Pause(delayNanos, task));
            }
            return () -> {};
        }

        @Override
        public long randomLong() {
            return PAUSE_NANOS;
        }
    }

    private static Set<ClaimRef> granted(RegisterStore store) {
        Set<ClaimRef> granted = new HashSet<>();
        var unused = store.subscribe(signal -> {
            if (signal instanceof Signal.Granted grant) {
                granted.add(grant.claim());
            }
        });
        return granted;
    }

    private static void acquire(RegisterStore store, ClaimRef claim) {
        assertThat(answer(store, mutex(claim, Waiting.TRY))).isInstanceOf(Reply.Granted.class);
    }

    private static void queue(RegisterStore store, ClaimRef claim) {
        assertThat(answer(store, mutex(claim, Waiting.QUEUE))).isInstanceOf(Reply.Queued.class);
    }

    @Test
    @DisplayName("the client of the first claim that waits admits it at once")
    void ofAHolder() {
        acquire(uninformed, others);
        queue(store, own);
        Set<ClaimRef> granted = granted(store);
        server.close(others.session());
        assertThat(granted).containsExactly(own);
    }

    @Test
    @DisplayName("the client does so for each of very many claims")
    void ofAHolderOfMany() {
        Set<ClaimRef> waiting = new HashSet<>();
        for (int i = 1; i <= MANY; i++) {
            ResourceName name = new ResourceName("order-" + i);
            acquire(uninformed, new ClaimRef(name, others.session(), i));
            ClaimRef waits = new ClaimRef(name, session, i);
            queue(store, waits);
            waiting.add(waits);
        }
        Set<ClaimRef> granted = granted(store);
        server.close(others.session());
        assertThat(granted).containsExactlyInAnyOrderElementsOf(waiting);
    }

    @Test
    @DisplayName("its own client admits the claims of others, which may not notice it")
    void ofItsOwn() {
        acquire(store, own);
        queue(uninformed, others);
        Set<ClaimRef> granted = granted(uninformed);
        server.close(session);
        assertThat(granted).containsExactly(others);
    }

    @Test
    @DisplayName("a client whose claim waits behind others leaves them a moment to act, and then does so for them")
    void behindOthers() {
        ClaimRef holder = new ClaimRef(NAME, open(another, TTL), 1);
        acquire(another, holder);
        queue(uninformed, others);
        queue(store, own);
        Set<ClaimRef> granted = granted(uninformed);
        pauses.clear();
        server.close(holder.session());
        assertThat(granted).isEmpty();
        assertThat(pauses).singleElement().satisfies(pause -> {
            assertThat(pause.nanos()).isEqualTo(PAUSE_NANOS);
            pause.next().run();
        });
        assertThat(granted).containsExactly(others);
    }

    @Test
    @DisplayName("its client admits the claims of others also if only the answer to a keep-alive shows it")
    void byKeepAlive() {
        acquire(uninformed, others);
        queue(another, new ClaimRef(NAME, open(another, TTL), 1));
        Set<ClaimRef> granted = granted(another);
        server.close(others.session());
        assertThat(granted).isEmpty();
        assertThat(answer(uninformed, new Command.KeepAlive(others.session(), 0)))
                .isInstanceOf(Reply.SessionEnded.class);
        assertThat(granted).hasSize(1);
    }

    @Test
    @DisplayName("and if it ends the session itself, and the server does not report that")
    void byClose() {
        acquire(uninformed, others);
        queue(another, new ClaimRef(NAME, open(another, TTL), 1));
        Set<ClaimRef> granted = granted(another);
        assertThat(answer(uninformed, new Command.CloseSession(others.session())))
                .isInstanceOf(Reply.Done.class);
        assertThat(granted).hasSize(1);
    }

    @Test
    @DisplayName("it was not prolonged for its ttl: a keep-alive that raises the epoch does that, too")
    void raisedEpoch() {
        for (int epoch = 1; epoch <= 3; epoch++) {
            micros.addAndGet(TTL.toMillis() * 1_000 * 2 / 3);
            assertThat(answer(store, new Command.KeepAlive(session, epoch))).isInstanceOf(Reply.SessionAlive.class);
        }
    }
}
