package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.Command.Inspect;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;

/** A barrier of three, and clients with one thread each that come to it. */
abstract class DoubleBarrierFixture {

    static final int PARTIES = 3;
    static final Duration TTL = Duration.ofSeconds(30);

    @AutoClose
    final World world = World.still();

    final List<Party> parties = new ArrayList<>();
    final Party alice = new Party("alice");
    final Party bob = new Party("bob");
    final Party carol = new Party("carol");
    final Party dave = new Party("dave");
    final Party erin = new Party("erin");
    final Party frank = new Party("frank");

    /** A client with one thread at the barrier. */
    final class Party {
        final FaultyLink link = world.link();
        final Holdfast holdfast;
        final DistributedDoubleBarrier barrier;
        final Actor actor;
        Doing<BarrierMembership> entering;
        volatile boolean wasInterrupted;

        Party(String name) {
            this(name, Duration.ofSeconds(10));
        }

        Party(String name, Duration storeTimeout) {
            holdfast = world.client(world.builder(name, link).storeTimeout(storeTimeout));
            barrier = holdfast.barrier("stage", PARTIES);
            actor = world.actor(name);
            parties.add(this);
        }

        Party comes() {
            entering = actor.start(() -> {
                try {
                    return barrier.enter();
                } finally {
                    wasInterrupted = Thread.interrupted();
                }
            });
            return this;
        }

        /** As {@link #comes}, but gives up after two seconds. */
        Doing<Optional<BarrierMembership>> tries() {
            return actor.start(() -> barrier.tryEnter(Duration.ofSeconds(2)));
        }

        /** Tries with a thread that can't see who is there, as another party comes that can't either. */
        Doing<Optional<BarrierMembership>> triesWhile(Party other) {
            isBlind();
            Doing<Optional<BarrierMembership>> trying = tries();
            other.isBlind().comes();
            Eventually.holds("two are there", () -> places() == 2);
            return trying;
        }

        /** Comes last and counts all; what it writes to open is held up. */
        FaultyLink.HeldUp opens() {
            FaultyLink.HeldUp opening = link.holdUpNext(SetCount.class);
            comes();
            opening.awaitCommand();
            return opening;
        }

        Party hasPlace() {
            int place = places();
            comes();
            Eventually.holds("it has a place", () -> places() > place);
            return this;
        }

        /** Until it is mended it can't see who is there, and so not open. */
        Party isBlind() {
            link.fail(Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
            return this;
        }

        boolean isInside() {
            return entering.isDone();
        }

        BarrierMembership membership() throws Exception {
            return entering.result();
        }

        Doing<Boolean> leaves() throws Exception {
            BarrierMembership membership = membership();
            return actor.start(() -> {
                membership.leave();
                return true;
            });
        }

        void die() {
            link.cut();
        }
    }

    int places() {
        return world.recordOf("stage").map(info -> info.holders().size()).orElse(0);
    }

    List<String> holders() {
        return world.recordOf("stage").stream()
                .flatMap(info -> info.holders().stream())
                .map(ResourceInfo.Party::label)
                .toList();
    }

    /** Lets time pass, a little at a time. */
    void advance(Duration time) {
        for (long left = time.toMillis(); left > 0; left -= 50) {
            world.advance(Duration.ofMillis(Math.min(50, left)));
        }
    }

    void allEnter(Party... members) throws Exception {
        List.of(members).forEach(Party::comes);
        allInside(members);
    }

    void haveBlindPlaces(Party... members) {
        List.of(members).forEach(member -> member.isBlind().hasPlace());
    }

    void allInside(Party... members) throws Exception {
        world.advanceUntil("all are inside", () -> List.of(members).stream().allMatch(Party::isInside));
        for (Party member : members) {
            assertThat(member.membership().isInside()).isTrue();
            assertThat(member.membership().generation())
                    .isEqualTo(members[0].membership().generation());
        }
    }

    static void canSee(Party... blind) {
        List.of(blind).forEach(party -> party.link.mend());
    }

    void noneInside(Party... waiting) {
        advance(Duration.ofSeconds(3));
        assertThat(List.of(waiting)).noneMatch(Party::isInside);
    }

    void allLeave(Party... members) throws Exception {
        List<Doing<Boolean>> leaving = new ArrayList<>();
        for (Party member : members) {
            leaving.add(member.leaves());
        }
        world.advanceUntil("all have left", () -> leaving.stream().allMatch(Doing::isDone));
        for (Doing<Boolean> left : leaving) {
            assertThat(left.result()).isTrue();
        }
    }
}
