package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.BarrierMembership;
import dev.holdfast.DistributedDoubleBarrier;
import dev.holdfast.Holdfast;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.CountDown;
import dev.holdfast.spi.Command.SetCount;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.Actor.Doing;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three parties meet, and one of them dies: at its first command, at its second, and so on to its last, before and
 * after the store has carried it out. A judge at the store sees each opening.
 */
@DisplayName("A double barrier of whose parties one dies at any step")
class DoubleBarrierCrashTest {

    private static final int PARTIES = 3;
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration STEP = Duration.ofMillis(200);

    /** Who dies. */
    enum Victim {
        FIRST_TO_COME,
        LAST_TO_COME,
        IMPATIENT
    }

    private static final Map<Victim, Set<Class<? extends Command>>> STEPS = new EnumMap<>(Map.of(
            Victim.FIRST_TO_COME,
            Set.of(Command.Acquire.class, CountDown.class, Command.Release.class),
            Victim.LAST_TO_COME,
            Set.of(
                    Command.Acquire.class,
                    CountDown.class,
                    Command.Inspect.class,
                    SetCount.class,
                    Command.Release.class),
            Victim.IMPATIENT,
            Set.of(Command.Acquire.class, CountDown.class)));

    @ParameterizedTest
    @EnumSource
    @Tag("H3")
    @DisplayName("opens only while all its parties have places, lets the others in and out, and goes on with one more")
    void anyStep(Victim victim) throws Exception {
        Set<Class<? extends Command>> deaths = new HashSet<>();
        for (boolean takesEffect : new boolean[] {false, true}) {
            // The number of polls is random, so some runs without a death are not the end yet.
            for (int step = 0, survived = 0; survived < 8; step++) {
                try (World world = World.still()) {
                    Optional<Command> death = new Meeting(world).of(victim, step, takesEffect);
                    death.ifPresent(command -> deaths.add(command.getClass()));
                    survived = death.isPresent() ? 0 : survived + 1;
                } catch (Exception | AssertionError e) {
                    throw new AssertionError(
                            victim + " at step " + step + (takesEffect ? ", after" : ", before") + " it took effect",
                            e);
                }
            }
        }
        assertThat(deaths).containsAll(STEPS.get(victim));
    }

    /** One run. */
    private static final class Meeting {
        private final World world;
        private final Judge judge;

        Meeting(World world) {
            this.world = world;
            this.judge = new Judge(world);
        }

        Optional<Command> of(Victim victim, int step, boolean takesEffect) throws Exception {
            Guest first = new Guest("first");
            Guest second = new Guest("second");
            Guest last = new Guest("last");
            Guest dying = victim == Victim.LAST_TO_COME ? last : first;
            dying.link.cutAfter(step, takesEffect);
            if (victim == Victim.LAST_TO_COME) {
                // The others can't see who is there, and so it is the last one who opens.
                first.link.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
                second.link.fail(Command.Inspect.class, Reason.UNAVAILABLE, Effect.NONE);
            }
            first.comes(victim == Victim.IMPATIENT ? Duration.ofSeconds(2) : TTL.multipliedBy(10));
            Eventually.holds("the first has come", () -> places() == 1 || first.isDead());
            second.comes(TTL.multipliedBy(10));
            Eventually.holds("the second has come", () -> second.hasPlace());
            if (victim == Victim.IMPATIENT) {
                passesUntil("the first has given up", () -> first.isInside() || first.isDead());
                advance(Duration.ofSeconds(4));
            }
            last.comes(TTL.multipliedBy(10));
            List<Guest> living = new ArrayList<>(List.of(first, second, last));
            if (victim == Victim.IMPATIENT) {
                living.remove(dying);
                advance(Duration.ofSeconds(3));
                assertThat(judge.openings).hasSizeLessThanOrEqualTo(dying.isDead() ? 1 : 0);
            } else {
                passesUntil(
                        "it is open, or one is dead",
                        () -> dying.isDead() || living.stream().allMatch(Guest::isInside));
            }
            if (victim == Victim.LAST_TO_COME) {
                first.link.mend();
                second.link.mend();
            }
            if (dying.isDead()) {
                living.remove(dying);
                advance(TTL.plus(TTL));
            }
            if (judge.openings.isEmpty()) {
                assertThat(living).noneMatch(Guest::isInside);
                Guest replacement = new Guest("replacement");
                replacement.comes(TTL.multipliedBy(10));
                living.add(replacement);
            }
            passesUntil("all who live are inside", () -> living.stream().allMatch(Guest::isInside));
            for (Guest guest : living) {
                assertThat(guest.generation()).isEqualTo(living.get(0).generation());
            }
            living.forEach(Guest::leaves);
            passesUntil(
                    "all who live have left",
                    () -> living.stream().allMatch(guest -> guest.hasLeft() || guest.isDead()));
            assertThat(judge.openings).hasSize(1);
            assertThat(judge.wrong).isEmpty();
            return dying.link.lastCommand();
        }

        private int places() {
            return world.recordOf("stage").map(info -> info.holders().size()).orElse(0);
        }

        private void advance(Duration time) {
            for (Duration left = time; left.compareTo(Duration.ZERO) > 0; left = left.minus(STEP)) {
                world.advance(STEP);
            }
        }

        private void passesUntil(String what, BooleanSupplier condition) {
            Eventually.holds(what, () -> {
                world.advance(STEP);
                return condition.getAsBoolean();
            });
        }

        /** A client with one thread that comes and leaves. */
        private final class Guest {
            private final String label;
            private final FaultyLink link = world.link(judge::on);
            private final DistributedDoubleBarrier barrier;
            private final Actor actor;
            private Doing<Optional<BarrierMembership>> entering;
            private Doing<Boolean> leaving;

            Guest(String label) {
                this.label = label;
                Holdfast holdfast = world.client(label, link);
                barrier = holdfast.barrier("stage", PARTIES);
                actor = world.actor(label);
            }

            void comes(Duration maxWait) {
                entering = actor.start(() -> barrier.tryEnter(maxWait));
            }

            boolean hasPlace() {
                return world.recordOf("stage").stream()
                        .flatMap(info -> info.holders().stream())
                        .anyMatch(party -> party.label().equals(label));
            }

            boolean isDead() {
                return link.lastCommand().isPresent();
            }

            /** Or has failed, or given up. */
            boolean isInside() {
                return entering.isDone();
            }

            long generation() throws Exception {
                return entering.result().orElseThrow().generation();
            }

            void leaves() {
                leaving = actor.start(() -> {
                    entering.result().orElseThrow().leave();
                    return true;
                });
            }

            boolean hasLeft() {
                return leaving.isDone();
            }
        }
    }

    /** Sees what becomes of each number that is written, and who has a place then. */
    private static final class Judge {
        private final World world;
        private final Queue<Long> openings = new ConcurrentLinkedQueue<>();
        private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

        Judge(World world) {
            this.world = world;
        }

        LockStore on(LockStore store) {
            return new LockStore() {
                @Override
                public StoreTraits traits() {
                    return store.traits();
                }

                @Override
                public CompletionStage<Reply> execute(Command command, CallerMode caller) {
                    return command instanceof SetCount opening
                            ? judge(opening, store, caller)
                            : store.execute(command, caller);
                }

                @Override
                public Subscription subscribe(Consumer<Signal> listener) {
                    return store.subscribe(listener);
                }

                @Override
                public void close() {
                    store.close();
                }
            };
        }

        private CompletionStage<Reply> judge(SetCount opening, LockStore store, CallerMode caller) {
            long before = newest();
            List<Party> present = world.recordOf("stage").orElseThrow().holders();
            CompletionStage<Reply> reply = store.execute(opening, caller);
            if (newest() > before) {
                openings.add(opening.generation());
                boolean isRight = present.size() == PARTIES
                        && present.stream()
                                .allMatch(party -> party.tokens().orElseThrow().first() > before
                                        && party.tokens().orElseThrow().last() <= opening.generation());
                if (!isRight) {
                    wrong.add(opening + " after " + before + " for " + present);
                }
            }
            return reply;
        }

        private long newest() {
            Reply reply = world.ask(new CountDown(new ResourceName("stage#opened"), 0, "judge", 1));
            return ((Reply.Count) reply).generation();
        }
    }
}
