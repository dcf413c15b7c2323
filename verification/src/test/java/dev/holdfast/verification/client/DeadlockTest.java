package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.holdfast.AcquireOptions;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.Deadlock;
import dev.holdfast.DistributedLock;
import dev.holdfast.DistributedReadWriteLock;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.MultiHold;
import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.execution.ForwardingEnvironment;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A deadlock of threads of one client")
class DeadlockTest {

    private static final Duration FOUND_WITHIN = Duration.ofMillis(1_500);

    /** Records deadlocks. */
    private static class Reports implements HoldfastListener {
        final List<Deadlock> deadlocks = new CopyOnWriteArrayList<>();

        @Override
        public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
            return null;
        }

        @Override
        public void onDeadlock(Deadlock deadlock) {
            deadlocks.add(deadlock);
        }
    }

    private final World world = World.still();
    private final Reports reports = new Reports();
    private final FaultyLink link = world.link();

    private Holdfast client(OnDeadlock onDeadlock) {
        return world.client(world.builder("alice", link).listener(reports).onDeadlock(onDeadlock));
    }

    @AfterEach
    void close() {
        world.close();
    }

    /** A thread that holds one lock and waits for another. */
    private final class Nested {
        final Actor actor;
        final Hold outer;

        @Nullable
        Doing<Hold> inner;

        Nested(String thread, DistributedLock lock) throws Exception {
            actor = world.actor(thread);
            outer = actor.call(() -> lock.acquire());
        }

        Doing<Hold> await(DistributedLock lock) {
            Doing<Hold> doing = actor.startWaiting(() -> lock.acquire());
            inner = doing;
            return doing;
        }

        void interrupt() throws Exception {
            actor.interrupt();
            if (inner != null) {
                assertThatThrownBy(inner::result).isInstanceOf(InterruptedException.class);
            }
            actor.run(outer::close);
        }
    }

    private Deadlock only() {
        assertThat(reports.deadlocks).hasSize(1);
        return reports.deadlocks.get(0);
    }

    @Test
    @DisplayName("is reported once, with threads, names, tokens and waits, even if the store answers nothing about it")
    void reportedOnce() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        Nested one = new Nested("one", client.lock("order/3"));
        Nested two = new Nested("two", client.lock("stock/9"));
        one.await(client.lock("stock/9"));
        world.advance(Duration.ofMillis(400));
        two.await(client.lock("order/3"));
        link.cutFor(command -> !(command instanceof Command.OnSession));
        world.advance(FOUND_WITHIN);
        Deadlock deadlock = only();
        assertThat(deadlock.members()).extracting(Deadlock.Member::thread).containsExactlyInAnyOrder("one", "two");
        Deadlock.Member first = deadlock.members().stream()
                .filter(member -> member.thread().equals("one"))
                .findAny()
                .orElseThrow();
        assertThat(first.label()).isEqualTo("alice");
        assertThat(first.holds()).isEqualTo("order/3");
        assertThat(first.token()).isEqualTo(one.outer.fencingToken());
        assertThat(first.awaits()).isEqualTo("stock/9");
        assertThat(first.waited()).isBetween(Duration.ofMillis(1_400), Duration.ofMillis(1_900));
        assertThat(first.isEnded()).isFalse();
        assertThat(deadlock.describe())
                .contains(
                        "deadlock of 2: ",
                        "'alice' thread one",
                        "(token " + one.outer.fencingToken() + ")",
                        "(token " + two.outer.fencingToken() + ")");
        world.advance(Duration.ofSeconds(30));
        assertThat(reports.deadlocks).hasSize(1);
        link.mend();
        one.interrupt();
        two.inner.result();
        two.actor.run(two.inner.result()::close);
        two.actor.run(two.outer::close);
    }

    @Test
    @DisplayName("with onDeadlock=fail ends the youngest wait, whose thread keeps what it holds")
    void youngestFails() throws Exception {
        Holdfast client = client(OnDeadlock.FAIL);
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("b"));
        Doing<Hold> older = one.await(client.lock("b"));
        world.advance(Duration.ofMillis(10));
        Doing<Hold> younger = two.await(client.lock("a"));
        world.advance(FOUND_WITHIN);
        LockDeadlockException failure = catchThrowableOfType(LockDeadlockException.class, younger::result);
        assertThat(failure.resource()).isEqualTo("a");
        assertThat(failure)
                .hasMessageContainingAll("Lock 'a' was not granted: deadlock of 2: ", "'alice' thread two holds 'b'");
        assertThat(failure.members())
                .filteredOn(Deadlock.Member::isEnded)
                .extracting(Deadlock.Member::thread)
                .containsExactly("two");
        assertThat(failure.deadlock()).isEqualTo(only());
        assertThat(older.isDone()).isFalse();
        assertThat(two.outer.isHeld()).isTrue();
        two.actor.run(two.outer::close);
        one.actor.run(older.result()::close);
        one.actor.run(one.outer::close);
        assertThat(copy(failure).members()).isEqualTo(failure.members());
    }

    private static LockDeadlockException copy(LockDeadlockException failure) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(failure);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (LockDeadlockException) in.readObject();
        }
    }

    @Test
    @DisplayName("also ends a wait that no interrupt ends, and one whose time-out is a value")
    void everyKindOfWait() throws Exception {
        Holdfast client = client(OnDeadlock.FAIL);
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("b"));
        Doing<Hold> older = one.await(client.lock("b"));
        world.advance(Duration.ofMillis(10));
        Doing<Boolean> uninterruptible = two.actor.startWaiting(() -> {
            client.lock("a").lock();
            return true;
        });
        world.advance(FOUND_WITHIN);
        assertThatThrownBy(uninterruptible::result).isInstanceOf(LockDeadlockException.class);
        Doing<Optional<Hold>> bounded =
                two.actor.startWaiting(() -> client.lock("a").tryAcquire(Duration.ofHours(1)));
        world.advance(FOUND_WITHIN);
        assertThatThrownBy(bounded::result).isInstanceOf(LockDeadlockException.class);
        Doing<Boolean> tried = two.actor.startWaiting(() -> client.lock("a").tryLock(1, TimeUnit.HOURS));
        world.advance(FOUND_WITHIN);
        assertThatThrownBy(tried::result).isInstanceOf(LockDeadlockException.class);
        assertThat(reports.deadlocks).as("each wait is a new one").hasSize(3);
        two.actor.run(two.outer::close);
        one.actor.run(older.result()::close);
        one.actor.run(one.outer::close);
    }

    @Test
    @DisplayName("is reported to every listener, and renewals go on, while one of them blocks")
    void blockingListener() throws Exception {
        CountDownLatch isCalled = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch hasReturned = new CountDownLatch(1);
        HoldfastListener blocking = new Reports() {
            @Override
            public void onDeadlock(Deadlock deadlock) {
                isCalled.countDown();
                try {
                    Eventually.holds("the test ends the wait", () -> goOn.getCount() == 0);
                } finally {
                    hasReturned.countDown();
                }
            }
        };
        ExecutorService threads = Executors.newCachedThreadPool();
        Environment environment = new ForwardingEnvironment(world.time()) {
            @Override
            public Executor lossListeners() {
                return threads;
            }
        };
        Holdfast client = world.client(world.builder("alice", link)
                .environment(environment)
                .listener(blocking)
                .listener(reports));
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("b"));
        Doing<Hold> forward = one.await(client.lock("b"));
        two.await(client.lock("a"));
        world.advanceUntil("both listeners are called", () -> isCalled.getCount() == 0 && !reports.deadlocks.isEmpty());
        link.forget();
        world.advance(Duration.ofMinutes(1));
        assertThat(link.sent(Command.KeepAlive.class)).isNotEmpty();
        assertThat(one.outer.isHeld() && two.outer.isHeld()).isTrue();
        assertThat(hasReturned.getCount()).as("the listener still blocks").isOne();
        goOn.countDown();
        threads.shutdown();
        two.interrupt();
        one.actor.run(forward.result()::close);
        one.actor.run(one.outer::close);
    }

    @Test
    @DisplayName("of five is reported with its members only: not those that wait for one of them, or for no one")
    void ring() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        List<Nested> members = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            members.add(new Nested("member-" + i, client.lock("ring/" + i)));
        }
        Nested tail = new Nested("tail", client.lock("tail"));
        tail.await(client.lock("ring/2"));
        Nested innocent = new Nested("innocent", client.lock("innocent"));
        Doing<Hold> other =
                world.actor("other").startWaiting(() -> client.lock("innocent").acquire());
        for (int i = 0; i < 5; i++) {
            members.get(i).await(client.lock("ring/" + (i + 1) % 5));
        }
        world.advance(FOUND_WITHIN);
        List<Deadlock.Member> cycle = only().members();
        assertThat(cycle).hasSize(5);
        for (int i = 0; i < 5; i++) {
            assertThat(cycle.get(i).awaits()).isEqualTo(cycle.get((i + 1) % 5).holds());
            assertThat(cycle.get(i).thread()).startsWith("member-");
        }
        world.advance(Duration.ofSeconds(10));
        assertThat(reports.deadlocks).hasSize(1);
        innocent.actor.run(innocent.outer::close);
        other.result();
        members.get(4).interrupt();
    }

    @Test
    @DisplayName("includes a thread that waits for a part of a multi-lock")
    void multiLock() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("c"));
        Doing<MultiHold> all =
                one.actor.startWaiting(() -> client.lockAll("b", "c").acquire());
        two.await(client.lock("a"));
        world.advance(FOUND_WITHIN);
        assertThat(only().members())
                .extracting(Deadlock.Member::thread, Deadlock.Member::holds, Deadlock.Member::awaits)
                .containsExactlyInAnyOrder(tuple("one", "a", "c"), tuple("two", "c", "a"));
        two.interrupt();
        one.actor.run(all.result()::close);
        one.actor.run(one.outer::close);
    }

    @Test
    @DisplayName("is found while all threads for listeners are blocked")
    void blockedExecutor() throws Exception {
        List<Runnable> blocked = new CopyOnWriteArrayList<>();
        Environment environment = new ForwardingEnvironment(world.time()) {
            @Override
            public Executor lossListeners() {
                return blocked::add;
            }
        };
        Holdfast client = world.client(world.builder("alice", link)
                .environment(environment)
                .listener(reports)
                .onDeadlock(OnDeadlock.FAIL));
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("b"));
        Doing<Hold> older = one.await(client.lock("b"));
        world.advance(Duration.ofMillis(10));
        Doing<Hold> younger = two.await(client.lock("a"));
        world.advance(FOUND_WITHIN);
        assertThatThrownBy(younger::result).isInstanceOf(LockDeadlockException.class);
        assertThat(reports.deadlocks).isEmpty();
        blocked.forEach(Runnable::run);
        assertThat(reports.deadlocks).hasSize(1);
        two.actor.run(two.outer::close);
        one.actor.run(older.result()::close);
        one.actor.run(one.outer::close);
    }

    @Test
    @DisplayName("of readers is one if a writer waits between them")
    void readers() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        DistributedReadWriteLock first = client.readWriteLock("first");
        DistributedReadWriteLock second = client.readWriteLock("second");
        Nested one = new Nested("one", first.readLock());
        Nested two = new Nested("two", second.readLock());
        Doing<Hold> writer =
                world.actor("writer").startWaiting(() -> second.writeLock().acquire());
        world.advance(Duration.ofMillis(100));
        Doing<Hold> behind = one.await(second.readLock());
        two.await(first.writeLock());
        world.advance(FOUND_WITHIN);
        Deadlock deadlock = only();
        assertThat(deadlock.members()).hasSize(2);
        assertThat(deadlock.members())
                .filteredOn(Deadlock.Member::isBehindWriter)
                .extracting(Deadlock.Member::thread)
                .containsExactly("one");
        assertThat(deadlock.describe()).contains("for 'second' behind a writer");
        two.interrupt();
        writer.result();
        assertThat(behind.isDone()).isFalse();
    }

    @Test
    @DisplayName("is not seen in holds that end by a lease, belong to no thread, or are permits")
    void otherHolds() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        Actor one = world.actor("one");
        Actor two = world.actor("two");
        AcquireOptions leased = AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(1));
        Hold bounded = one.call(() -> client.lock("leased").acquire(leased));
        Hold async = one.call(
                () -> client.lock("async").acquireAsync().toCompletableFuture().join());
        Hold permits = one.call(() -> client.semaphore("permits", 1).acquire());
        Hold outer = two.call(() -> client.lock("b").acquire());
        for (String name : List.of("leased", "async")) {
            Actor third = world.actor("third");
            var unused = third.startWaiting(() -> client.lock(name).acquire());
        }
        Doing<Hold> forward = one.startWaiting(() -> client.lock("b").acquire());
        Doing<Hold> back = two.startWaiting(() -> client.lock("leased").acquire());
        world.advance(Duration.ofSeconds(10));
        assertThat(reports.deadlocks).isEmpty();
        assertThat(forward.isDone()).isFalse();
        assertThat(back.isDone()).isFalse();
        async.close();
        permits.close();
        two.interrupt();
        assertThatThrownBy(back::result).isInstanceOf(InterruptedException.class);
        two.run(outer::close);
        forward.result();
        one.run(bounded::close);
    }

    @Test
    @DisplayName("is not reported if a wait ends within a second, or if the client does not search")
    void shortOrOff() throws Exception {
        Holdfast client = client(OnDeadlock.OFF);
        Nested one = new Nested("one", client.lock("a"));
        Nested two = new Nested("two", client.lock("b"));
        one.await(client.lock("b"));
        two.await(client.lock("a"));
        world.advance(Duration.ofSeconds(10));
        assertThat(reports.deadlocks).isEmpty();
        one.interrupt();
        two.actor.run(two.inner.result()::close);

        Holdfast searching = world.client(world.builder("bob").listener(reports).onDeadlock(OnDeadlock.REPORT));
        Nested three = new Nested("three", searching.lock("c"));
        Nested four = new Nested("four", searching.lock("d"));
        three.await(searching.lock("d"));
        Doing<Optional<Hold>> brief =
                four.actor.startWaiting(() -> searching.lock("c").tryAcquire(Duration.ofMillis(900)));
        world.advance(Duration.ofSeconds(10));
        assertThat(brief.result()).isEmpty();
        assertThat(reports.deadlocks).isEmpty();
        four.actor.run(four.outer::close);
    }

    @Test
    @DisplayName(
            "of a thread with its own permits or asynchronous hold is none, but the time-out says what it waits for")
    void itself() throws Exception {
        Holdfast client = client(OnDeadlock.REPORT);
        Actor one = world.actor("one");
        Hold permits = one.call(() -> client.semaphore("gpu", 1).acquire());
        Hold async = one.call(
                () -> client.lock("async").acquireAsync().toCompletableFuture().join());
        AcquireOptions within = AcquireOptions.defaults().withMaxWait(Duration.ofSeconds(5));
        Doing<?> first = one.startWaiting(() -> client.semaphore("gpu", 1).acquire(1, within));
        world.advance(Duration.ofSeconds(5));
        assertThatThrownBy(first::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContainingAll(
                        "this client ('alice') holds it",
                        "; this thread itself acquired a hold of it, with token " + permits.fencingToken());
        Doing<?> second = one.startWaiting(() -> client.lock("async").acquire(Duration.ofSeconds(5)));
        world.advance(Duration.ofSeconds(5));
        assertThatThrownBy(second::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .hasMessageContaining("this thread itself acquired a hold of it, with token " + async.fencingToken());
        Doing<?> stranger =
                world.actor("two").startWaiting(() -> client.lock("async").acquire(Duration.ofSeconds(5)));
        world.advance(Duration.ofSeconds(5));
        assertThatThrownBy(stranger::result)
                .isInstanceOf(LockWaitTimeoutException.class)
                .message()
                .doesNotContain("this thread itself");
        assertThat(reports.deadlocks).isEmpty();
        permits.close();
        async.close();
    }
}
