package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedLock;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.CloseSession;
import dev.holdfast.spi.Command.Extend;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("A client that is closed")
@Tag("C9")
class ClosingTest {

    @AutoClose
    private final World world = World.live();

    private final FaultyLink link = world.link();
    private final Holdfast holdfast = world.client("alice", link);
    private final DistributedLock lock = holdfast.lock("ledger");

    @Test
    @DisplayName("frees what it held, at once and for all: its holds are lost, and told so")
    void withHolds() throws Exception {
        List<Loss.Cause> told = new CopyOnWriteArrayList<>();
        Hold mine = lock.acquire();
        Hold theirs =
                holdfast.lock("other").acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
        mine.onLost(loss -> told.add(loss.cause()));
        theirs.onLost(loss -> told.add(loss.cause()));

        holdfast.close();

        world.awaitIdle();
        assertThat(mine.isHeld()).isFalse();
        assertThat(theirs.isHeld()).isFalse();
        Eventually.holds("both are told", () -> told.size() == 2);
        assertThat(told).containsOnly(Loss.Cause.CLIENT_CLOSED);
        assertThatThrownBy(mine::fencingToken).isInstanceOf(LockLostException.class);
        assertThatThrownBy(mine::close)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED));
        assertThat(theirs.releaseAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .isEqualTo(ReleaseOutcome.LOST);
    }

    @Test
    @DisplayName("ends all waits with ClientClosedException, of threads and of stages, and leaves nothing in the queue")
    void withWaiters() throws Exception {
        DistributedLock elsewhere = world.client("bob").lock("ledger");
        Hold held = elsewhere.acquire();
        List<Doing<?>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(world.actor("waiter-" + i).startWaiting(() -> lock.acquire()));
        }
        waiting.add(world.actor("locker").startWaiting(() -> {
            lock.lock();
            return true;
        }));
        waiting.add(world.actor("trier").startWaiting(() -> lock.tryLock(1, TimeUnit.HOURS)));
        CompletableFuture<Hold> stage = lock.acquireAsync().toCompletableFuture();

        holdfast.close();

        for (Doing<?> each : waiting) {
            assertThatThrownBy(each::result).isInstanceOf(ClientClosedException.class);
        }
        assertThatThrownBy(() -> stage.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(ClientClosedException.class);
        assertThat(world.waitersOf("ledger")).isZero();
        held.close();
    }

    @Test
    @DisplayName("ends a wait whose claim is on its way, and what comes of that claim holds nothing")
    void withAClaimOnItsWay() throws Exception {
        FaultyLink.HeldUp claim = link.holdUpNext(Acquire.class);
        Doing<Hold> waiting = world.actor("waiter").startWaiting(() -> lock.acquire());
        claim.awaitCommand();

        holdfast.close();
        assertThatThrownBy(waiting::result).isInstanceOf(ClientClosedException.class);
        claim.proceed();

        world.awaitIdle();
    }

    @Nested
    @DisplayName("ends what the store has not answered, though its own time-outs end with it:")
    class Unanswered {

        private final AcquireOptions fixed = AcquireOptions.defaults().withFixedLease(Duration.ofMinutes(1));
        private final AcquireOptions detached = AcquireOptions.defaults().withDetachedLease(Duration.ofMinutes(1));

        @Test
        @DisplayName("a release whose answer is lost, which is confirmed by the end of the session")
        void release() throws Exception {
            Hold hold = lock.acquire();
            link.loseReplyToNext(Release.class);
            var ending = hold.releaseAsync().toCompletableFuture();

            holdfast.close();

            assertThat(ending.get(60, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        }

        @Test
        @DisplayName("a release that is to be repeated, of what outlives the session: unconfirmed")
        void repeatedRelease() throws Exception {
            Hold hold = lock.acquire(detached);
            link.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = hold.releaseAsync().toCompletableFuture();

            holdfast.close();

            assertThat(ending.get(60, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.UNCONFIRMED);
            world.releaseByForce("ledger");
        }

        @Test
        @DisplayName("an extension")
        void extension() throws Exception {
            Hold hold = lock.acquire(fixed);
            link.loseNext(Extend.class);
            Doing<Boolean> extending = world.actor("extender").start(() -> {
                hold.extend(Duration.ofMinutes(2));
                return true;
            });
            Eventually.holds(
                    "the extension is sent", () -> !link.sent(Extend.class).isEmpty());

            holdfast.close();

            assertThatThrownBy(extending::result)
                    .isInstanceOfSatisfying(
                            LockLostException.class,
                            e -> assertThat(e.loss().cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED));
        }

        @Test
        @DisplayName("the wait for several locks, whose leases are being made the same")
        void severalAtOnce() throws Exception {
            link.loseNext(Extend.class);
            var several = holdfast.lockAll(lock, holdfast.lock("other"))
                    .acquireAsync(fixed)
                    .toCompletableFuture();
            Eventually.holds(
                    "the extension is sent", () -> !link.sent(Extend.class).isEmpty());

            holdfast.close();

            assertThatThrownBy(() -> several.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
        }
    }

    @Nested
    @DisplayName("does not call a release confirmed")
    class Unconfirmed {

        @AutoClose
        private final World still = World.still();

        private final FaultyLink near = still.link();
        private final Holdfast client = still.client("carol", near);

        @Test
        @DisplayName("that was to be repeated when its user closed the store before it")
        void storeClosedFirst() throws Exception {
            Hold hold = client.lock("ledger").acquire();
            near.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = hold.releaseAsync().toCompletableFuture();
            near.close();

            CompletableFuture<Void> closing = client.closeAsync().toCompletableFuture();

            still.time().settle();
            assertThat(closing).isCompleted();
            assertThat(ending).isCompletedWithValue(ReleaseOutcome.UNCONFIRMED);
            assertThat(still.holderOf("ledger")).contains("carol");
            still.advance(Duration.ofSeconds(30));
        }

        @Test
        @DisplayName("under an abandoned session, which the end of the present session does not end")
        void abandonedSession() throws Exception {
            Hold hold = client.lock("ledger").acquire();
            near.fail(KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
            still.advance(Duration.ofSeconds(26));
            near.fail(Release.class, Reason.UNAVAILABLE, Effect.NONE);
            var ending = hold.releaseAsync().toCompletableFuture();
            still.advance(Duration.ofSeconds(2));
            assertThat(near.sent(OpenSession.class)).hasSize(2);

            CompletableFuture<Void> closing = client.closeAsync().toCompletableFuture();

            still.time().settle();
            assertThat(closing).isCompleted();
            assertThat(ending).isCompletedWithValue(ReleaseOutcome.UNCONFIRMED);
            assertThat(still.holderOf("ledger")).contains("carol");
            still.advance(Duration.ofSeconds(2));
        }
    }

    @Test
    @DisplayName("ends a release whose pause before the next attempt begins while the client closes")
    void whileAPauseBegins() throws Exception {
        try (World still = World.still()) {
            FaultyLink near = still.link();
            Intruded environment = new Intruded(still.time());
            Holdfast client = still.client(still.builder("carol", near).environment(environment));
            Hold hold = client.lock("ledger").acquire();
            FaultyLink.HeldUp release = near.holdUpNext(Release.class);
            CompletableFuture<ReleaseOutcome> ending = hold.releaseAsync().toCompletableFuture();
            release.awaitCommand();
            Actor closer = still.actor("closer");
            // A pause has a random length, drawn before it begins.
            environment.beforeNextRandom = () -> closer.run(client::close);

            release.fail(Reason.UNAVAILABLE, Effect.NONE);

            still.time().settle();
            assertThat(ending).isCompletedWithValue(ReleaseOutcome.RELEASED);
        }
    }

    /** Does something when the next random number is drawn. */
    private static final class Intruded extends ForwardingEnvironment {
        private volatile Actor.Deed beforeNextRandom = () -> {};

        Intruded(Environment real) {
            super(real);
        }

        @Override
        public long randomLong() {
            Actor.Deed deed = beforeNextRandom;
            beforeNextRandom = () -> {};
            try {
                deed.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            return real.randomLong();
        }
    }

    @Test
    @DisplayName("gives no locks any more, and its locks no holds")
    void lockAfterClose() throws Exception {
        holdfast.close();

        assertThatThrownBy(() -> holdfast.lock("another"))
                .isInstanceOf(ClientClosedException.class)
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(lock::lock).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::acquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(() -> lock.acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS))
                .hasCauseInstanceOf(ClientClosedException.class);
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    @DisplayName("may be closed again, by many threads at the same moment; the session is closed once")
    void manyTimes() throws Exception {
        Hold hold = lock.acquire();
        CyclicBarrier start = new CyclicBarrier(8);
        List<Doing<Boolean>> closing = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            closing.add(world.actor("closer-" + i).start(() -> {
                start.await();
                holdfast.close();
                return true;
            }));
        }
        for (Doing<Boolean> each : closing) {
            assertThat(each.result()).isTrue();
        }
        holdfast.close();
        assertThat(holdfast.closeAsync().toCompletableFuture().isDone()).isTrue();
        assertThat(link.sent(CloseSession.class)).hasSize(1);
        assertThat(hold.isHeld()).isFalse();
    }

    @Test
    @DisplayName("may be closed by a callback: a dependent action of an acquisition")
    void inACallback() throws Exception {
        CompletableFuture<Void> closing =
                lock.acquireAsync().thenAccept(hold -> holdfast.close()).toCompletableFuture();

        closing.get(60, TimeUnit.SECONDS);

        world.awaitIdle();
    }

    @Test
    @DisplayName("may be closed while threads come and go: each call ends with a hold or with ClientClosedException")
    void whileInUse() throws Exception {
        for (int round = 0; round < 20; round++) {
            Holdfast busy = world.client("busy-" + round);
            List<Doing<Integer>> doings = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Actor actor = world.actor("busy-" + round + "-" + i);
                DistributedLock contended = busy.lock("busy");
                doings.add(actor.start(() -> {
                    for (int done = 0; ; done++) {
                        try (Hold hold = contended.acquire()) {
                            assertThat(hold.name()).isEqualTo("busy");
                        } catch (ClientClosedException | LockLostException e) {
                            return done;
                        }
                    }
                }));
            }
            Eventually.holds("it is in use", () -> world.recordOf("busy").isPresent());

            busy.close();

            for (Doing<Integer> each : doings) {
                assertThat(each.result()).isNotNegative();
            }
            world.awaitIdle();
        }
    }

    @Test
    @DisplayName("has no threads any more, though it had timers and callbacks")
    void threadsAreGone() throws Exception {
        List<Loss> told = new CopyOnWriteArrayList<>();
        try (World other = World.live()) {
            Holdfast busy = other.client("busy");
            Hold hold = busy.lock("a").acquire();
            hold.onLost(told::add);
            busy.lock("b").acquireAsync().toCompletableFuture().get(60, TimeUnit.SECONDS);
            assertThat(threads()).isNotEmpty();
        }
        holdfast.close();

        Eventually.holds(
                "its threads are gone, but there are " + threads(),
                () -> threads().isEmpty());
        assertThat(told).hasSize(1);
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("holdfast"))
                .toList();
    }

    @Test
    @DisplayName("still tells a listener that is named afterwards")
    void listenerAfterwards() throws Exception {
        Hold hold = lock.acquire();
        holdfast.close();
        CompletableFuture<Loss> told = new CompletableFuture<>();
        Eventually.holds("its threads are gone", () -> threads().isEmpty());

        hold.onLost(told::complete);

        assertThat(told.get(60, TimeUnit.SECONDS).cause()).isEqualTo(Loss.Cause.CLIENT_CLOSED);
        Eventually.holds("the thread of the callback is gone", () -> threads().isEmpty());
    }

    @Nested
    @DisplayName("closes its store")
    class Store {

        @Test
        @DisplayName("not if it was given one that was open")
        void borrowed() {
            AtomicInteger listeners = new AtomicInteger();
            LockStore store = new ForwardingStore(link) {
                @Override
                public Subscription subscribe(Consumer<Signal> listener) {
                    listeners.incrementAndGet();
                    return listeners::decrementAndGet;
                }
            };
            Holdfast client = world.client(Holdfast.builder(store));
            assertThat(listeners).hasPositiveValue();
            client.close();
            assertThat(link.isClosed()).isFalse();
            assertThat(listeners).as("those that go on listening to it").hasValue(0);
        }

        @Test
        @DisplayName("if it opened it by a URI: the last one of a named memory store takes it along")
        void opened() throws Exception {
            String uri = "memory:closing-test";
            Holdfast first = Holdfast.connect(uri);
            Holdfast second = Holdfast.connect(uri);
            long token = first.lock("ledger").acquire().fencingToken();
            assertThat(second.lock("ledger").tryLock()).isFalse();
            first.close();
            assertThat(second.lock("ledger").tryLock()).isTrue();
            second.close();

            try (Holdfast third = Holdfast.connect(uri);
                    Hold hold = third.lock("ledger").acquire()) {
                assertThat(hold.fencingToken()).isGreaterThan(token);
            }
        }
    }

    @Nested
    @DisplayName("while the store is away")
    class WithoutTheStore {

        @Test
        @DisplayName("ends within the store time-out")
        void silent() throws Exception {
            try (World still = World.still()) {
                FaultyLink cut = still.link();
                Holdfast away = still.client("away", cut);
                Hold hold = away.lock("ledger").acquire();
                cut.cut();
                CompletableFuture<Void> closing = away.closeAsync().toCompletableFuture();
                still.advance(Duration.ofSeconds(10).minusNanos(1));
                assertThat(closing.isDone()).isFalse();
                still.advance(Duration.ofNanos(1));
                assertThat(closing.isDone()).isTrue();
                assertThatThrownBy(hold::close).isInstanceOf(LockLostException.class);
                still.advance(Duration.ofSeconds(30));
            }
        }

        @Test
        @DisplayName("is never opened: build() says so within the store time-out, and leaves no thread")
        void neverOpened() {
            FaultyLink dead = world.link();
            dead.cut();
            assertThatThrownBy(() -> world.builder("dead", dead)
                            .storeTimeout(Duration.ofMillis(300))
                            .build())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("memory");
            Holdfast unused = holdfast;
            unused.close();
            Eventually.holds("no threads are left", () -> threads().isEmpty());
        }

        @Test
        @DisplayName("is never opened: buildAsync() says so too, and nothing goes on in the background")
        void neverOpenedAsync() {
            FaultyLink dead = world.link();
            dead.cut();
            assertThatThrownBy(() -> world.builder("dead", dead)
                            .storeTimeout(Duration.ofMillis(300))
                            .buildAsync()
                            .toCompletableFuture()
                            .get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(StoreUnavailableException.class);
            holdfast.close();
            Eventually.holds("no threads are left", () -> threads().isEmpty());
            int sent = dead.sent().size();
            assertThat(dead.sent()).hasSize(sent);
        }

        @Test
        @DisplayName("or refuses it: build() says so at once")
        void refused() {
            FaultyLink shut = world.link();
            shut.fail(OpenSession.class, Reason.DENIED, Effect.NONE);
            assertThatThrownBy(() -> world.builder("shut", shut).build())
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("the test says so");
        }

        @Test
        @DisplayName("and answers late: a session that nobody waits for any more is closed")
        void lateSession() throws Exception {
            try (World still = World.still()) {
                FaultyLink slow = still.link();
                FaultyLink.HeldUp opening = slow.holdUpNext(OpenSession.class);
                CompletableFuture<Holdfast> building =
                        still.builder("slow", slow).buildAsync().toCompletableFuture();
                still.advance(Duration.ofSeconds(9));
                Holdfast open = building.get(60, TimeUnit.SECONDS);
                assertThat(slow.sent(CloseSession.class)).isEmpty();

                opening.proceed();

                assertThat(slow.sent(CloseSession.class)).hasSize(1);
                assertThat(open.lock("ledger").tryLock()).isTrue();
                open.close();
            }
        }
    }
}
