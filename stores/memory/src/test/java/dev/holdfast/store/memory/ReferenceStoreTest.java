package dev.holdfast.store.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.TokenBlock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What the conformance kit doesn't cover: connections, delivery of signals, and the provider. */
class ReferenceStoreTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final ResourceName NAME = new ResourceName("ledger");

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final ReferenceStore store = new ReferenceStore(micros::get);

    @Test
    void signalsGoToTheConnectionThatOpenedTheSession() {
        ReferenceStore other = store.connect();
        List<Signal> here = new ArrayList<>();
        List<Signal> there = new ArrayList<>();
        store.subscribe(here::add);
        other.subscribe(there::add);
        SessionId alice = open(store);
        SessionId bob = open(other);
        ClaimRef holds = new ClaimRef(NAME, alice, 1);
        ClaimRef waits = new ClaimRef(NAME, bob, 1);

        assertThat(acquire(store, holds)).isInstanceOf(Reply.Granted.class);
        assertThat(acquire(other, waits)).isInstanceOf(Reply.Queued.class);
        assertThat(run(store, new Command.Release(holds))).isInstanceOf(Reply.Released.class);

        assertThat(here).isEmpty();
        assertThat(there).singleElement().isInstanceOf(Signal.Granted.class);
        assertThat(((Signal.Granted) there.get(0)).claim()).isEqualTo(waits);
    }

    @Test
    void listenerThatSendsCommandsIsNotEnteredAgain() {
        SessionId session = open(store);
        int length = 10_000;
        List<ClaimRef> granted = new ArrayList<>();
        int[] depth = {0};
        store.subscribe(signal -> {
            assertThat(++depth[0]).isEqualTo(1);
            ClaimRef claim = ((Signal.Granted) signal).claim();
            granted.add(claim);
            assertThat(run(store, new Command.Release(claim))).isInstanceOf(Reply.Released.class);
            depth[0]--;
        });
        for (int i = 1; i <= length; i++) {
            acquire(store, new ClaimRef(NAME, session, i));
        }
        run(store, new Command.Release(new ClaimRef(NAME, session, 1)));

        assertThat(granted).hasSize(length - 1);
        assertThat(inspect(store)).isEmpty();
    }

    @Test
    void expireActsWithoutACommand() {
        List<Signal> signals = new ArrayList<>();
        store.subscribe(signals::add);
        SessionId dies = open(store);
        micros.addAndGet(1);
        SessionId lives = open(store);
        acquire(store, new ClaimRef(NAME, dies, 1));
        ClaimRef waits = new ClaimRef(NAME, lives, 1);
        acquire(store, waits);

        micros.addAndGet(TTL.toNanos() / 1_000 - 1);
        store.expire();

        assertThat(signals).hasSize(2);
        assertThat(signals.get(0)).isEqualTo(new Signal.SessionEnded(dies));
        assertThat(signals.get(1))
                .isInstanceOfSatisfying(
                        Signal.Granted.class,
                        granted -> assertThat(granted.claim()).isEqualTo(waits));
    }

    @Test
    void idleResourcesBeyondTheLimitLeaveAFloor() {
        SessionId session = open(store);
        ClaimRef first = new ClaimRef(NAME, session, 1);
        acquire(store, first);
        long before = ((Reply.Advanced)
                        run(store, new Command.Advance(first, tokens(first), 1, tokens(first) + 10_000_000)))
                .tokens()
                .last();
        run(store, new Command.Release(first));
        for (int i = 0; i < State.MAX_IDLE; i++) {
            ClaimRef other = new ClaimRef(new ResourceName("other-" + i), session, i + 2);
            acquire(store, other);
            run(store, new Command.Release(other));
        }
        Reply.Granted again = (Reply.Granted) acquire(store, new ClaimRef(NAME, session, 1_000_000));
        assertThat(again.tokens().first()).isGreaterThan(before);
    }

    @Test
    void spentCounterRefusesInsteadOfGoingRound() {
        SessionId session = open(store);
        ClaimRef claim = new ClaimRef(NAME, session, 1);
        acquire(store, claim);
        long end = tokens(claim);
        assertThat(run(store, new Command.Advance(claim, end, 1, Long.MAX_VALUE)))
                .isInstanceOf(Reply.Unsupported.class);
        long last = ((Reply.Advanced) run(store, new Command.Advance(claim, end, 1, (1L << 53) - 2)))
                .tokens()
                .last();
        assertThat(last).isEqualTo((1L << 53) - 1);
        ClaimRef waits = new ClaimRef(NAME, session, 2);
        acquire(store, waits);
        run(store, new Command.Release(claim));
        assertThat(acquire(store, waits))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.EXHAUSTED));
        assertThat(inspect(store)).isEmpty();
    }

    @Test
    void waitersThatAreEndedByTheStoreAreNotified() {
        SessionId session = open(store);
        ResourceSpec spec = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);
        ClaimRef holds = new ClaimRef(NAME, session, 1);
        ClaimRef heavy = new ClaimRef(NAME, session, 2);
        ClaimRef light = new ClaimRef(NAME, session, 3);
        acquire(store, holds, spec, 1, Lease.SESSION);
        acquire(store, heavy, spec, 2, Lease.SESSION);
        acquire(store, light, spec, 1, Lease.SESSION);
        List<Signal> signals = new ArrayList<>();
        store.subscribe(signals::add);
        assertThat(run(store, new Command.Resize(NAME, session, 0, 1))).isInstanceOf(Reply.Done.class);
        assertThat(signals).containsExactly(new Signal.Changed(heavy));
        signals.clear();
        run(store, new Command.Advance(holds, tokens(holds), 1, TokenBlock.MAX_TOKEN - 1));
        run(store, new Command.Release(holds));
        assertThat(signals).as("there is no token for it").containsExactly(new Signal.Changed(light));
    }

    @Test
    void waiterChecksAgainWhenTheLeaseOfTheHolderOrItsSessionMayEnd() {
        SessionId session = open(store);
        ClaimRef bounded = new ClaimRef(NAME, session, 1);
        acquire(store, bounded, ResourceSpec.MUTEX, 1, Lease.bounded(TTL.multipliedBy(2)));
        micros.addAndGet(Duration.ofSeconds(25).toNanos() / 1_000);
        SessionId waiting = open(store);
        ClaimRef waits = new ClaimRef(NAME, waiting, 1);
        assertThat(acquire(store, waits)).isEqualTo(new Reply.Queued(Duration.ofSeconds(5)));
        run(store, new Command.Withdraw(waits, Command.Sending.FIRST));
        run(store, new Command.Release(bounded));
        acquire(store, new ClaimRef(NAME, session, 2), ResourceSpec.MUTEX, 1, Lease.detached(Duration.ofSeconds(7)));
        assertThat(acquire(store, waits)).isEqualTo(new Reply.Queued(Duration.ofSeconds(7)));
    }

    @Test
    void extensionPicksItsGrantUp() {
        SessionId session = open(store);
        SessionId waiting = open(store);
        ClaimRef holds = new ClaimRef(NAME, session, 1);
        ClaimRef waits = new ClaimRef(NAME, waiting, 1);
        acquire(store, holds);
        acquire(store, waits, ResourceSpec.MUTEX, 1, Lease.detached(TTL));
        run(store, new Command.Release(holds));
        assertThat(run(store, new Command.Extend(waits, 1, TTL))).isEqualTo(new Reply.Extended(1, TTL));
        run(store, new Command.CloseSession(waiting));
        assertThat(run(store, new Command.Release(waits))).isInstanceOf(Reply.Released.class);
    }

    @Test
    void countOfAnEarlierGenerationLeavesTheNameUnused() {
        SessionId session = open(store);
        assertThat(run(store, new Command.SetCount(NAME, session, 0, 2, 1))).isEqualTo(new Reply.Count(2, 1));
        assertThat(run(store, new Command.CountDown(NAME, 2, "a", 1))).isEqualTo(new Reply.Count(2, 0));
        assertThat(run(store, new Command.SetCount(NAME, session, 0, 2, 1))).isEqualTo(new Reply.Count(2, 0));
        assertThat(acquire(store, new ClaimRef(NAME, session, 1))).isInstanceOf(Reply.Granted.class);
    }

    @Test
    void sessionOfAPartitionThatDoesNotExistIsRefused() {
        ReferenceStore parts = new ReferenceStore(micros::get, 2);
        assertThat(run(parts, new Command.OpenSession(TTL, "test", 1))).isInstanceOf(Reply.SessionOpened.class);
        assertThatThrownBy(() -> run(parts, new Command.OpenSession(TTL, "test", 2)))
                .hasStackTraceContaining("There is no partition 2");
    }

    @Test
    void closedConnectionRefusesAndTheStoreGoesOn() {
        ReferenceStore other = store.connect();
        SessionId session = open(other);
        other.close();
        other.close();
        assertThatThrownBy(() -> run(other, new Command.KeepAlive(session, 0)))
                .hasCauseInstanceOf(StoreException.class)
                .satisfies(e ->
                        assertThat(((StoreException) e.getCause()).effect()).isEqualTo(StoreException.Effect.NONE));
        assertThat(run(store, new Command.KeepAlive(session, 0))).isInstanceOf(Reply.SessionAlive.class);
    }

    @Test
    void uriWithoutNameIsAFreshStoreAndNamesAreSharedWhileOpen() {
        LockStore a = connect("memory:");
        LockStore b = connect("memory:");
        SessionId session = open(a);
        assertThat(run(b, new Command.KeepAlive(session, 0))).isInstanceOf(Reply.SessionEnded.class);

        LockStore c = connect("memory:shared");
        LockStore d = connect("memory:shared");
        SessionId shared = open(c);
        assertThat(run(d, new Command.KeepAlive(shared, 0))).isInstanceOf(Reply.SessionAlive.class);
        c.close();
        assertThat(run(d, new Command.KeepAlive(shared, 0))).isInstanceOf(Reply.SessionAlive.class);
        d.close();
        LockStore e = connect("memory:shared");
        assertThat(run(e, new Command.KeepAlive(shared, 0))).isInstanceOf(Reply.SessionEnded.class);
        e.close();
    }

    @Test
    void uriWithParametersIsRefused() {
        assertThatThrownBy(() -> connect("memory:?durable=yes"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("durable");
    }

    private static LockStore connect(String uri) {
        StoreProvider provider = ServiceLoader.load(StoreProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(found -> found.schemes().contains("memory"))
                .findFirst()
                .orElseThrow();
        return provider.open(StoreUri.parse(uri));
    }

    private long tokens(ClaimRef claim) {
        Reply.Polled polled = (Reply.Polled) run(store, new Command.Poll(List.of(claim)));
        return ((Reply.Granted) polled.states().get(0)).tokens().last();
    }

    private static List<?> inspect(LockStore store) {
        return ((Reply.Inspected) run(store, new Command.Inspect("", Optional.empty(), 100))).resources();
    }

    private static SessionId open(LockStore store) {
        return ((Reply.SessionOpened) run(store, new Command.OpenSession(TTL, "test"))).session();
    }

    @CanIgnoreReturnValue
    private static Reply acquire(LockStore store, ClaimRef claim) {
        return acquire(store, claim, ResourceSpec.MUTEX, 1, Lease.SESSION);
    }

    @CanIgnoreReturnValue
    private static Reply acquire(LockStore store, ClaimRef claim, ResourceSpec spec, int weight, Lease lease) {
        return run(
                store,
                new Command.Acquire(claim, 0, Command.Sending.FIRST, spec, weight, lease, Command.Waiting.QUEUE, 1));
    }

    @CanIgnoreReturnValue
    private static Reply run(LockStore store, Command command) {
        return store.execute(command, CallerMode.BLOCKING).toCompletableFuture().join();
    }
}
