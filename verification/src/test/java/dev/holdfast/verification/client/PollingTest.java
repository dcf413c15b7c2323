package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.ForwardingStore;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The claims of a client that wait for different names")
class PollingTest {

    private static final int NAMES = 50;

    /** A third of the ttl, which is when the store in memory asks for the next poll. */
    private static final Duration INTERVAL = Duration.ofSeconds(10);

    private static final int INTERVALS = 10;

    private final World world = World.still();
    private final FaultyLink link = world.link();
    private final Holdfast holder = world.client("holder");
    private final Holdfast waiter = world.client("waiter", link);
    private final List<Hold> held = new ArrayList<>();
    private final List<CompletableFuture<Hold>> waiting = new ArrayList<>();

    @AfterEach
    void close() {
        held.forEach(Hold::close);
        world.time().settle();
        waiting.forEach(one -> {
            var unused = one.thenAccept(Hold::close);
        });
        world.close();
    }

    @Test
    @Tag("C20")
    @DisplayName("are polled together, whenever they began to wait, and each in time")
    void together() throws Exception {
        for (int i = 0; i < NAMES; i++) {
            await(1);
            world.advance(INTERVAL.dividedBy(NAMES));
        }
        world.advance(INTERVAL.multipliedBy(3));
        link.forget();

        world.advance(INTERVAL.multipliedBy(INTERVALS));

        List<Command.Poll> polls = link.sent(Command.Poll.class);
        assertThat(polls).as("polls in %s intervals", INTERVALS).hasSizeLessThanOrEqualTo(2 * INTERVALS);
        assertThat(polls.stream()
                        .flatMap(poll -> poll.claims().stream())
                        .collect(Collectors.groupingBy(ClaimRef::resource, Collectors.counting())))
                .as("how often each was polled")
                .hasSize(NAMES)
                .allSatisfy((name, times) -> assertThat(times).isBetween(INTERVALS - 2L, 2L * INTERVALS));
    }

    /** Lets claims wait for a number of other names. */
    private void await(int names) throws Exception {
        await(names, waiter);
    }

    private void await(int names, Holdfast client) throws Exception {
        for (int i = 0; i < names; i++) {
            String name = "name/" + held.size();
            held.add(holder.lock(name).acquire());
            waiting.add(client.lock(name).acquireAsync().toCompletableFuture());
        }
    }

    @Test
    @Tag("C15")
    @DisplayName(
            "are each polled in time, also if the one that was due first was granted and the other one was not due")
    void oneByOne() throws Exception {
        link.loseSignals();
        await(1);
        world.advance(INTERVAL.minusSeconds(2));
        await(1);
        held.forEach(Hold::close);

        world.advance(Duration.ofSeconds(4));
        assertThat(waiting.get(0)).isCompleted();
        assertThat(waiting.get(1)).isNotDone();
        assertThat(link.sent(Command.Poll.class)).hasSize(1);

        world.advance(INTERVAL.minusSeconds(2));
        assertThat(waiting.get(1)).isCompleted();
    }

    @Test
    @Tag("C20")
    @DisplayName("are not polled before the time that the store gives, nor later than an eighth of it after that")
    void onTime() throws Exception {
        await(1);

        world.advance(INTERVAL.minusMillis(1));
        assertThat(link.sent(Command.Poll.class)).isEmpty();

        world.advance(INTERVAL.dividedBy(8).plusMillis(1));
        assertThat(link.sent(Command.Poll.class)).hasSize(1);
    }

    @Test
    @Tag("C20")
    @DisplayName("are polled at half the store's interval even if it gives no time to wait")
    void atOnce() throws Exception {
        link.answerAll(Command.Poll.class, new Reply.Polled(List.of(new Reply.Queued(Duration.ofNanos(1)))));
        await(1);
        world.advance(INTERVAL.multipliedBy(2));
        link.forget();

        world.advance(INTERVAL);
        link.mend();

        assertThat(link.sent(Command.Poll.class)).hasSizeBetween(190, 200);
    }

    @Test
    @DisplayName("are polled in several commands if there are very many")
    void many() throws Exception {
        await(300);
        link.loseSignals();
        held.forEach(Hold::close);

        link.signal(new Signal.Resubscribed());
        world.time().settle();

        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(link.sent(Command.Poll.class).stream()
                        .map(poll -> poll.claims().size()))
                .containsExactly(256, 44);
    }

    @Test
    @Tag("C15")
    @DisplayName("are polled one by one if the store finds damage: only the wait for what is damaged fails")
    void damaged() throws Exception {
        await(3);
        ClaimRef damaged = link.sent(Command.Acquire.class).get(0).claim();
        link.failFor(
                command -> command instanceof Command.Poll poll && poll.claims().contains(damaged),
                Reason.CORRUPT,
                Effect.NONE);
        link.loseSignals();
        held.get(1).close();

        link.signal(new Signal.Resubscribed());
        world.time().settle();
        link.mend();

        assertThat(waiting.remove(0))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(StoreRefusedException.class);
        assertThat(waiting.get(0)).isCompleted();
        assertThat(waiting.get(1)).isNotDone();
    }

    @Test
    @Tag("C15")
    @DisplayName("are polled again if the answer is about another number of claims, and nothing of it is believed")
    void incomplete() throws Exception {
        await(2);
        link.loseSignals();
        held.get(0).close();
        held.get(1).close();
        List<Reply.ClaimReply> tooMany = List.of(new Reply.Absent(), new Reply.Absent(), new Reply.Absent());
        link.answerNext(Command.Poll.class, new Reply.Polled(tooMany));

        link.signal(new Signal.Resubscribed());
        world.time().settle();
        assertThat(waiting).noneMatch(CompletableFuture::isDone);

        world.advance(INTERVAL.multipliedBy(2));
        assertThat(waiting).allMatch(CompletableFuture::isDone);
        assertThat(link.sent(Command.Acquire.class)).hasSize(2);
    }

    @Nested
    @DisplayName("at a store without signals")
    class WithoutSignals {

        private static final Duration SHORTEST = Duration.ofMillis(100);

        private final FaultyLink mute = world.link(Mute::new);
        private final Holdfast poller = world.client("poller", mute);

        @Test
        @Tag("C20")
        @DisplayName("are polled less often while nothing changes, and at least at four times the store's interval")
        void lessOften() throws Exception {
            await(1, poller);
            world.advance(SHORTEST.multipliedBy(5).dividedBy(4));
            assertThat(mute.sent(Command.Poll.class)).hasSize(1);
            world.advance(INTERVAL);
            mute.forget();

            world.advance(SHORTEST.multipliedBy(400));

            assertThat(mute.sent(Command.Poll.class)).hasSizeBetween(79, 134);
        }

        @Test
        @Tag("C20")
        @DisplayName("are polled together, and soon after another one begins to wait")
        void soonAgain() throws Exception {
            await(1, poller);
            world.advance(INTERVAL);
            await(1, poller);
            mute.forget();

            world.advance(SHORTEST.multipliedBy(5).dividedBy(4));

            assertThat(mute.sent(Command.Poll.class))
                    .hasSizeBetween(1, 2)
                    .allSatisfy(poll -> assertThat(poll.claims()).hasSize(2));
            world.advance(INTERVAL);
            mute.forget();
            world.advance(SHORTEST.multipliedBy(400));
            assertThat(mute.sent(Command.Poll.class)).hasSizeBetween(79, 134);
        }
    }

    /** Sends no signals. */
    private static final class Mute extends ForwardingStore {
        Mute(LockStore store) {
            super(store);
        }

        @Override
        public StoreTraits traits() {
            return super.traits().toBuilder()
                    .without(StoreTraits.Feature.PUSH)
                    .pollEvery(WithoutSignals.SHORTEST)
                    .build();
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return () -> {};
        }
    }
}
