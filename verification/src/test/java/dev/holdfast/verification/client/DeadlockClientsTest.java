package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.holdfast.AcquireOptions;
import dev.holdfast.AcquisitionListener;
import dev.holdfast.Deadlock;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastListener;
import dev.holdfast.LockDeadlockException;
import dev.holdfast.OnDeadlock;
import dev.holdfast.spi.Command;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A deadlock of threads of several clients")
class DeadlockClientsTest {

    private static final Duration FOUND_WITHIN = Duration.ofSeconds(3);

    @AutoClose
    private final World world = World.still();

    /** A client with one thread. */
    private final class Member implements HoldfastListener {
        final FaultyLink link = world.link();
        final Holdfast client;
        final Actor actor;
        final List<Deadlock> reports = new CopyOnWriteArrayList<>();

        Member(String name, OnDeadlock onDeadlock) {
            client = world.client(world.builder(name, link).listener(this).onDeadlock(onDeadlock));
            actor = world.actor("thread of " + name);
        }

        <T> T has(Callable<T> acquiring) throws Exception {
            return actor.call(acquiring);
        }

        @Override
        public @Nullable AcquisitionListener onRequested(AcquireRequest request) {
            return null;
        }

        @Override
        public void onDeadlock(Deadlock deadlock) {
            reports.add(deadlock);
        }
    }

    private List<Member> members(int count, OnDeadlock onDeadlock) {
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add(new Member("client-" + i, onDeadlock));
        }
        return members;
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 5, 10})
    @DisplayName("is reported once by each client, with labels, threads, tokens and messages")
    void ring(int size) throws Exception {
        List<Member> members = members(size, OnDeadlock.REPORT);
        List<Hold> outer = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            Member member = members.get(i);
            String name = "ring/" + i;
            AcquireOptions options = AcquireOptions.defaults().withMessage("run " + i);
            outer.add(member.has(() -> member.client.lock(name).acquire(options)));
        }
        for (int i = 0; i < size; i++) {
            Member member = members.get(i);
            String name = "ring/" + (i + 1) % size;
            member.actor.startWaiting(() -> member.client.lock(name).acquire());
        }
        world.advance(FOUND_WITHIN);
        for (int i = 0; i < size; i++) {
            assertThat(members.get(i).reports).as("reports of client %d", i).hasSize(1);
            List<Deadlock.Member> cycle = members.get(i).reports.get(0).members();
            assertThat(cycle).hasSize(size);
            for (int j = 0; j < size; j++) {
                int number = (i + j) % size;
                Deadlock.Member found = cycle.get(j);
                assertThat(found.label()).isEqualTo("client-" + number);
                assertThat(found.thread()).isEqualTo("thread of client-" + number);
                assertThat(found.holds()).isEqualTo("ring/" + number);
                assertThat(found.token()).isEqualTo(outer.get(number).fencingToken());
                assertThat(found.message()).isEqualTo("run " + number);
                assertThat(found.awaits()).isEqualTo("ring/" + (number + 1) % size);
                assertThat(found.waited()).isBetween(Duration.ofSeconds(1), FOUND_WITHIN);
                assertThat(found.isEnded()).isFalse();
            }
        }
        world.advance(Duration.ofSeconds(20));
        assertThat(members).allSatisfy(member -> assertThat(member.reports).hasSize(1));
    }

    @Test
    @DisplayName("with onDeadlock=fail ends the youngest wait, and no other")
    void youngestFails() throws Exception {
        List<Member> members = members(3, OnDeadlock.FAIL);
        List<Hold> outer = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Member member = members.get(i);
            String name = "ring/" + i;
            outer.add(member.has(() -> member.client.lock(name).acquire()));
        }
        List<Doing<Hold>> inner = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Member member = members.get(i);
            String name = "ring/" + (i + 1) % 3;
            inner.add(member.actor.startWaiting(() -> member.client.lock(name).acquire()));
            world.advance(Duration.ofSeconds(2));
        }
        world.advance(FOUND_WITHIN);
        LockDeadlockException failure = catchThrowableOfType(LockDeadlockException.class, inner.get(2)::result);
        assertThat(failure.members())
                .filteredOn(Deadlock.Member::isEnded)
                .extracting(Deadlock.Member::label)
                .containsExactly("client-2");
        assertThat(inner.get(0).isDone()).isFalse();
        assertThat(inner.get(1).isDone()).isFalse();
        assertThat(outer.get(2).isHeld()).isTrue();
        members.get(2).actor.run(outer.get(2)::close);
        members.get(1).actor.run(inner.get(1).result()::close);
        members.get(1).actor.run(outer.get(1)::close);
        members.get(0).actor.run(inner.get(0).result()::close);
        members.get(0).actor.run(outer.get(0)::close);
        assertThat(members).allSatisfy(member -> assertThat(member.reports).hasSizeLessThanOrEqualTo(1));
    }

    @Test
    @DisplayName("includes a reader that waits at the store behind a writer, but readers alone are none")
    void readerBehindWriter() throws Exception {
        Member one = new Member("one", OnDeadlock.REPORT);
        Member two = new Member("two", OnDeadlock.REPORT);
        Member writer = new Member("writer", OnDeadlock.REPORT);
        Hold read = one.has(() -> one.client.readWriteLock("data").readLock().acquire());
        Hold lock = two.has(() -> two.client.lock("job").acquire());
        Doing<Hold> writing = writer.actor.startWaiting(
                () -> writer.client.readWriteLock("data").writeLock().acquire());
        Doing<Hold> behind = two.actor.startWaiting(
                () -> two.client.readWriteLock("data").readLock().acquire());
        Doing<Hold> forward =
                one.actor.startWaiting(() -> one.client.lock("job").acquire());
        world.advance(FOUND_WITHIN);
        for (Member member : List.of(one, two)) {
            assertThat(member.reports).hasSize(1);
            assertThat(member.reports.get(0).members())
                    .filteredOn(Deadlock.Member::isBehindWriter)
                    .extracting(Deadlock.Member::label)
                    .containsExactly("two");
        }
        assertThat(writer.reports).isEmpty();
        writer.actor.interrupt();
        assertThatThrownBy(writing::result).isInstanceOf(InterruptedException.class);
        two.actor.run(behind.result()::close);
        two.actor.run(lock::close);
        one.actor.run(forward.result()::close);
        one.actor.run(read::close);
    }

    @Test
    @DisplayName("is found between threads of one client too, if only a writer of another client is between them")
    void writerElsewhere() throws Exception {
        Member one = new Member("one", OnDeadlock.REPORT);
        Member writer = new Member("writer", OnDeadlock.REPORT);
        Actor second = world.actor("second thread");
        Hold read = one.has(() -> one.client.readWriteLock("data").readLock().acquire());
        Hold lock = second.call(() -> one.client.lock("job").acquire());
        Doing<Hold> writing = writer.actor.startWaiting(
                () -> writer.client.readWriteLock("data").writeLock().acquire());
        DistributedLock data = one.client.readWriteLock("data").readLock();
        boolean isShared = true;
        for (int i = 0; i < 20 && isShared; i++) { // until the client's readers leave room for the writer
            world.advance(Duration.ofMillis(50));
            isShared = second.call(() -> {
                Optional<Hold> shared = data.tryAcquire();
                shared.ifPresent(Hold::close);
                return shared.isPresent();
            });
        }
        Doing<Hold> behind = second.startWaiting(() -> data.acquire());
        Doing<Hold> forward =
                one.actor.startWaiting(() -> one.client.lock("job").acquire());
        world.advance(FOUND_WITHIN);
        assertThat(one.reports).hasSize(1);
        assertThat(one.reports.get(0).members())
                .filteredOn(Deadlock.Member::isBehindWriter)
                .extracting(Deadlock.Member::thread)
                .containsExactly("second thread");
        assertThat(writer.reports).isEmpty();
        second.interrupt();
        assertThatThrownBy(behind::result).isInstanceOf(InterruptedException.class);
        second.run(lock::close);
        one.actor.run(forward.result()::close);
        one.actor.run(read::close);
        writer.actor.run(writing.result()::close);
    }

    @Test
    @DisplayName("is not found if a client in the middle does not state its waits, and not reported falsely")
    void silentMember() throws Exception {
        List<Member> members = members(3, OnDeadlock.REPORT);
        members.set(1, new Member("old", OnDeadlock.OFF));
        for (int i = 0; i < 3; i++) {
            Member member = members.get(i);
            String name = "ring/" + i;
            member.has(() -> member.client.lock(name).acquire());
        }
        for (int i = 0; i < 3; i++) {
            Member member = members.get(i);
            String name = "ring/" + (i + 1) % 3;
            member.actor.startWaiting(() -> member.client.lock(name).acquire());
        }
        world.advance(Duration.ofSeconds(30));
        assertThat(members).allSatisfy(member -> assertThat(member.reports).isEmpty());
        assertThat(members.get(1).link.sent(Command.Annotate.class)).isEmpty();
    }

    @Test
    @DisplayName("is not seen in leases and asynchronous holds")
    void otherHolds() throws Exception {
        Member one = new Member("one", OnDeadlock.REPORT);
        Member two = new Member("two", OnDeadlock.REPORT);
        AcquireOptions leased = AcquireOptions.defaults().withMaxHold(Duration.ofMinutes(1));
        Hold bounded = one.has(() -> one.client.lock("leased").acquire(leased));
        Hold lock = two.has(() -> two.client.lock("job").acquire());
        Doing<Hold> forward =
                one.actor.startWaiting(() -> one.client.lock("job").acquire());
        two.actor.startWaiting(() -> two.client.lock("leased").acquire());
        world.advance(Duration.ofSeconds(10));
        assertThat(one.reports).isEmpty();
        assertThat(two.reports).isEmpty();
        assertThat(forward.isDone()).isFalse();
        assertThat(bounded.isHeld() && lock.isHeld()).isTrue();
    }

    @Test
    @DisplayName("costs nothing while no thread holds anything and waits, and an annotation and its removal otherwise")
    void cost() throws Exception {
        Member one = new Member("one", OnDeadlock.REPORT);
        Member two = new Member("two", OnDeadlock.REPORT);
        Hold lock = one.has(() -> one.client.lock("job").acquire());
        Doing<Hold> flat = two.actor.startWaiting(() -> two.client.lock("job").acquire());
        two.link.forget();
        world.advance(Duration.ofSeconds(10));
        assertThat(two.link.sent(Command.Annotate.class)).isEmpty();
        assertThat(two.link.sent(Command.Inspect.class)).isEmpty();
        one.actor.run(lock::close);
        two.actor.run(flat.result()::close);

        Hold again = one.has(() -> one.client.lock("job").acquire());
        Hold outer = two.has(() -> two.client.lock("outer").acquire());
        Doing<Hold> nested = two.actor.startWaiting(() -> two.client.lock("job").acquire());
        two.link.forget();
        world.advance(Duration.ofSeconds(10));
        assertThat(two.link.sent(Command.Annotate.class)).hasSize(1);
        assertThat(two.link.sent(Command.Inspect.class)).isEmpty();
        one.actor.run(again::close);
        two.actor.run(nested.result()::close);
        world.advance(Duration.ofSeconds(1));
        assertThat(two.link.sent(Command.Annotate.class))
                .hasSize(2)
                .last()
                .satisfies(removal -> assertThat(removal.text()).isEmpty());
        two.actor.run(outer::close);
    }
}
