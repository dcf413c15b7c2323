package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AcquireOptions;
import dev.holdfast.BarrierMembership;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.MultiHold;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.task.TaskOptions;
import dev.holdfast.task.TaskRun;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Where a store has parts, each is judged by itself")
@Tag("C18")
class PartitionsTest {

    private static final int PARTS = 8;
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(10);

    @AutoClose
    private final World world = World.inParts(PARTS);

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final Actor actor = world.actor("actor");

    /** One name of each part, by its number. */
    private final List<String> names = IntStream.range(0, PARTS)
            .mapToObj(partition -> IntStream.range(0, 1_000)
                    .mapToObj(i -> "name-" + i)
                    .filter(name -> link.partitionOf(new ResourceName(name)) == partition)
                    .findFirst()
                    .orElseThrow())
            .toList();

    /** All that is about a part: what opens its sessions, what is sent under them, and what is about its names. */
    private boolean isOf(int partition, Command command) {
        if (command instanceof Command.OnResource on) {
            return link.partitionOf(on.resource()) == partition;
        } else if (command instanceof Command.Poll poll) {
            return link.partitionOf(poll.claims().get(0).resource()) == partition;
        } else if (command instanceof Command.OpenSession open) {
            return open.partition() == partition;
        }
        return command instanceof Command.OnSession on && sessionsOf(partition).contains(on.session());
    }

    /** The sessions under which something of a part was asked for. */
    private Set<SessionId> sessionsOf(int partition) {
        Set<SessionId> sessions = ConcurrentHashMap.newKeySet();
        link.sent(Command.Acquire.class).stream()
                .filter(acquire -> link.partitionOf(acquire.resource()) == partition)
                .forEach(acquire -> sessions.add(acquire.claim().session()));
        return sessions;
    }

    private Hold acquired(String name) throws Exception {
        return alice.lock(name)
                .acquireAsync(AcquireOptions.defaults())
                .toCompletableFuture()
                .get();
    }

    @Test
    @DisplayName("a session is opened for the parts that are used, when they are, and ended when they are not any more")
    void sessionsComeAndGoWithTheirNames() throws Exception {
        assertThat(link.sent()).isEmpty();
        Hold first = acquired(names.get(3));
        Hold second = acquired(names.get(5));
        acquired(names.get(5) + "-no").close();
        assertThat(link.sent(Command.OpenSession.class))
                .extracting(Command.OpenSession::partition)
                .contains(3, 5)
                .doesNotContain(2);
        first.close();
        for (int i = 0; i < 4; i++) {
            world.advance(KEEP_ALIVE);
        }
        assertThat(link.sent(Command.CloseSession.class))
                .extracting(Command.CloseSession::session)
                .containsAll(sessionsOf(3))
                .doesNotContainAnyElementsOf(sessionsOf(5));
        assertThat(second.isHeld()).isTrue();

        // From then on it costs nothing, until it is used again.
        link.forget();
        world.advance(KEEP_ALIVE);
        assertThat(link.sent())
                .hasSizeLessThanOrEqualTo(2)
                .allMatch(command -> isOf(5, command) || command instanceof Command.OnSession);
        acquired(names.get(3)).close();
        assertThat(link.sent(Command.OpenSession.class))
                .extracting(Command.OpenSession::partition)
                .containsExactly(3);
        assertThat(link.sent(Command.Acquire.class)).hasSize(1);
        second.close();
    }

    @Test
    @DisplayName("a session is not ended while a release under it is repeated, though nothing else needs it")
    void sessionOfARepeatedRelease() throws Exception {
        Hold hold = acquired(names.get(3));
        link.fail(Command.Release.class, Reason.UNAVAILABLE, Effect.NONE);
        var outcome = hold.releaseAsync().toCompletableFuture();

        for (int i = 0; i < 6; i++) {
            world.advance(KEEP_ALIVE);
        }

        assertThat(outcome).isCompletedWithValue(ReleaseOutcome.UNCONFIRMED);
        assertThat(world.holderOf(names.get(3))).contains("alice");
        assertThat(link.sent(Command.CloseSession.class))
                .extracting(Command.CloseSession::session)
                .doesNotContainAnyElementsOf(sessionsOf(3));
        link.mend();
        world.advanceUntil("it is released", () -> world.holderOf(names.get(3)).isEmpty());
        assertThat(link.sent(Command.CloseSession.class))
                .extracting(Command.CloseSession::session)
                .doesNotContainAnyElementsOf(sessionsOf(3));
    }

    @Test
    @DisplayName("a session is not ended while a call waits for its greater epoch, though nothing else needs it")
    void sessionOfARaise() {
        link.failNext(Command.SetCount.class, Reason.UNAVAILABLE, Effect.UNKNOWN);
        link.failNext(Command.KeepAlive.class, Reason.UNAVAILABLE, Effect.NONE);
        var setting = alice.latch(names.get(3)).trySetCountAsync(1).toCompletableFuture();
        assertThat(setting).isNotDone();

        world.advance(Duration.ofSeconds(1));

        assertThat(setting).isCompletedWithValue(true);
        assertThat(link.sent(Command.SetCount.class))
                .extracting(Command.SetCount::session)
                .hasSize(2)
                .containsOnly(link.sent(Command.KeepAlive.class).get(0).session());
        alice.latch(names.get(3)).countDown();
    }

    @Test
    @DisplayName("a session is ended also after the store has refused a claim that its caller gave up")
    void sessionOfARefusedClaim() {
        FaultyLink.HeldUp acquire = link.holdUpNext(Command.Acquire.class);
        var asked = alice.lock(names.get(3)).acquireAsync().toCompletableFuture();
        acquire.awaitCommand();
        assertThat(asked.cancel(false)).isTrue();

        acquire.answer(new Reply.Refused(Refusal.TAKEN, "the test says so"));
        for (int i = 0; i < 4; i++) {
            world.advance(KEEP_ALIVE);
        }

        assertThat(link.sent(Command.CloseSession.class))
                .extracting(Command.CloseSession::session)
                .containsExactlyElementsOf(sessionsOf(3));
    }

    @Test
    @DisplayName("one that does not answer loses its own holds and fails its own waiters, and no others")
    void deadPartTakesNobodyWithIt() throws Exception {
        List<Hold> held = new ArrayList<>();
        for (String name : names) {
            held.add(acquired(name));
        }
        Holdfast bob = world.client("bob");
        link.cutFor(command -> isOf(4, command));
        Actor other = world.actor("other");
        Doing<Hold> waitsThere = other.startWaiting(() -> alice.lock(another(4)).acquire());

        for (int i = 0; i < 40; i++) {
            world.advance(Duration.ofSeconds(1));
        }

        assertThat(held.get(4).isHeld()).isFalse();
        assertThatThrownBy(waitsThere::result).isInstanceOf(StoreUnavailableException.class);
        for (int partition = 0; partition < PARTS; partition++) {
            assertThat(held.get(partition).isHeld())
                    .as("the hold in part %d", partition)
                    .isEqualTo(partition != 4);
        }
        assertThat(bob.lock(names.get(4)).tryLock()).isTrue();
        bob.lock(names.get(4)).unlock();
        link.mend();
        for (int i = 0; i < 5; i++) {
            world.advance(Duration.ofSeconds(1));
        }
        for (int partition = 0; partition < PARTS; partition++) {
            if (partition != 4) {
                held.get(partition).close();
            } else {
                assertThatThrownBy(held.get(partition)::close).hasMessageContaining(names.get(4));
            }
        }
        acquired(names.get(4)).close();
    }

    private String another(int partition) {
        return IntStream.range(1_000, 10_000)
                .mapToObj(i -> "name-" + i)
                .filter(name -> link.partitionOf(new ResourceName(name)) == partition)
                .findFirst()
                .orElseThrow();
    }

    @Test
    @DisplayName("one that refuses everything does not fail who waits for others")
    void refusingPartFailsNobodyElse() throws Exception {
        Holdfast bob = world.client("bob");
        Hold theirs =
                bob.lock(names.get(2)).acquireAsync().toCompletableFuture().get();
        Doing<Hold> waits = actor.startWaiting(() -> alice.lock(names.get(2)).acquire());
        link.failFor(command -> isOf(6, command), Reason.UNAVAILABLE, Effect.NONE);
        var refused = alice.lock(names.get(6)).acquireAsync().toCompletableFuture();
        for (int i = 0; i < 60; i++) {
            world.advance(Duration.ofSeconds(1));
        }
        assertThat(refused).isCompletedExceptionally();
        assertThat(waits.isDone()).isFalse();
        theirs.close();
        actor.run(waits.result()::close);
        link.mend();
    }

    @Test
    @DisplayName("the end of one session is the loss of what it held, and of nothing else")
    void endOfOneSessionEndsItsOwnHolds() throws Exception {
        Hold ended = acquired(names.get(0));
        Hold stays = acquired(names.get(7));
        List<Loss> losses = new ArrayList<>();
        ended.onLost(losses::add);
        stays.onLost(losses::add);
        world.ask(new Command.CloseSession(sessionsOf(0).iterator().next()));
        Eventually.holds("the loss is told", () -> !losses.isEmpty());
        world.advance(KEEP_ALIVE);
        assertThat(losses).extracting(Loss::name).containsExactly(names.get(0));
        assertThat(stays.isHeld()).isTrue();
        assertThatThrownBy(ended::close).hasMessageContaining(names.get(0));
        stays.close();
    }

    @Test
    @DisplayName("a gap in the signals of one polls what waits there, and nothing else")
    void gapOfOnePartPollsItsOwnWaiters() throws Exception {
        Holdfast bob = world.client("bob");
        Hold one = bob.lock(names.get(1)).acquireAsync().toCompletableFuture().get();
        Hold two = bob.lock(names.get(2)).acquireAsync().toCompletableFuture().get();
        Doing<Hold> first = actor.startWaiting(() -> alice.lock(names.get(1)).acquire());
        Actor other = world.actor("other");
        Doing<Hold> second = other.startWaiting(() -> alice.lock(names.get(2)).acquire());
        link.loseSignals();
        one.close();
        two.close();
        link.forget();
        link.signal(new Signal.Resubscribed(OptionalInt.of(1)));
        actor.run(first.result()::close);
        assertThat(link.sent(Command.Poll.class)).allMatch(poll -> isOf(1, poll));
        assertThat(second.isDone()).isFalse();
        link.signal(new Signal.Resubscribed());
        other.run(second.result()::close);
    }

    @Test
    @DisplayName("a fail-over of one has its session compared with the store, and no other")
    void failOverOfOnePartAuditsItsSession() throws Exception {
        Hold one = acquired(names.get(1));
        Hold two = acquired(names.get(2));
        Set<SessionId> audited = sessionsOf(1);
        link.forget();

        link.signal(new Signal.FailedOver(OptionalInt.of(1)));

        assertThat(link.sent(Command.Audit.class))
                .extracting(Command.Audit::session)
                .containsExactlyElementsOf(audited);
        one.close();
        two.close();
    }

    @Test
    @DisplayName("keep-alives of parts that are due at about the same time go out together")
    void keepAlivesGoTogether() throws Exception {
        List<Hold> held = new ArrayList<>();
        for (String name : names) {
            held.add(acquired(name));
            world.advance(Duration.ofMillis(20));
        }
        world.advance(KEEP_ALIVE);
        link.forget();
        int moments = 0;
        int sent = 0;
        for (int i = 0; i < 100; i++) {
            world.advance(KEEP_ALIVE.dividedBy(100));
            int now = link.sent(Command.KeepAlive.class).size();
            moments += now > sent ? 1 : 0;
            sent = now;
        }
        assertThat(sent).isEqualTo(PARTS);
        assertThat(moments).isLessThanOrEqualTo(2);
        held.forEach(Hold::close);
    }

    @Test
    @DisplayName("several locks at once, latches, barriers, elections and tasks may be of different parts")
    void primitivesSpanParts() throws Exception {
        Holdfast bob = world.client("bob");
        try (MultiHold all =
                actor.call(() -> alice.lockAll(names.toArray(String[]::new)).acquire())) {
            assertThat(all.isHeld()).isTrue();
            assertThat(bob.lock(names.get(6)).tryLock()).isFalse();
            actor.run(all::close);
        }
        for (String name : names) {
            assertThat(alice.latch(name + "/latch").trySetCount(1)).isTrue();
            bob.latch(name + "/latch").countDown();
            assertThat(alice.latch(name + "/latch").await(Duration.ofSeconds(5)))
                    .isTrue();
            assertThat(bob.semaphore(name + "/permits", 3).resize(5)).isFalse();
            assertThat(alice.task(name + "/task").callIfDue(TaskOptions.atMost(Duration.ofMinutes(1)), hold -> "done"))
                    .isInstanceOf(TaskRun.Ran.class);
        }
    }

    @Test
    @DisplayName("a barrier keeps what is under one session in one part")
    void barriersWork() throws Exception {
        Holdfast bob = world.client("bob");
        for (String name : names) {
            var one = alice.barrier(name + "/barrier", 2).enterAsync().toCompletableFuture();
            var two = bob.barrier(name + "/barrier", 2).enterAsync().toCompletableFuture();
            for (int i = 0; i < 200 && !(one.isDone() && two.isDone()); i++) {
                world.advance(Duration.ofMillis(100));
            }
            try (BarrierMembership a = one.get();
                    BarrierMembership b = two.get()) {
                assertThat(a.generation()).isEqualTo(b.generation());
            }
        }
    }
}
