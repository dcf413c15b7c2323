package dev.holdfast.store.register.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import dev.holdfast.store.register.client.RegisterStore;
import dev.holdfast.store.register.memory.MemoryAdapter;
import dev.holdfast.store.register.memory.MemoryRegister;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Steps that add the claims which other clients have announced. */
class ArrivalsTest {

    private static final ResourceName NAME = new ResourceName("arrivals");
    private static final ResourceSpec SEMAPHORE = new ResourceSpec(Kind.SEMAPHORE, 5, Order.BARGING);

    private final MemoryRegister memory = new MemoryRegister(RegisterTraits.Clock.REVISIONS, () -> 1);
    private final MemoryAdapter server = memory.connect();
    private final Facts facts = new Facts(new Facts.Hearsay() {
        @Override
        public boolean isGone(SessionId id) {
            return false;
        }

        @Override
        public @Nullable SessionRecord session(SessionId id) {
            return null;
        }
    });

    private static <T> T answer(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }

    private static Acquire claim(SessionId session, long number, long epoch, ResourceSpec spec, Lease lease) {
        ClaimRef claim = new ClaimRef(NAME, session, number);
        return new Acquire(claim, epoch, Sending.FIRST, spec, 1, lease, Waiting.QUEUE, 3);
    }

    private static Acquire claim(SessionId session, long number) {
        return claim(session, number, 0, ResourceSpec.MUTEX, Lease.SESSION);
    }

    private Arrival announced(Acquire command) {
        Arrival arrival = ArrivalCodec.encode(command, new SessionRecord(0, "label", Duration.ofMinutes(1)));
        assertThat(answer(server.announce(arrival, Map.of()))).isPresent();
        return arrival;
    }

    private SessionId session() {
        OpenedSession opened = answer(server.openSession(Duration.ofMinutes(1), "label"));
        return opened.id();
    }

    private Step step() {
        RegisterRecord record = answer(server.read(NAME));
        return new Step(NAME, record, facts, server.traits());
    }

    private WriteResult written(Step step) {
        return answer(server.write(step.write(Map.of())));
    }

    @Test
    void whatIsAskedForComesThroughTheCodec() {
        Lease bounded = new Lease(Lease.Binding.BOUNDED, Duration.ofMillis(12_345));
        Acquire command = claim(new SessionId("s"), 7, 3, SEMAPHORE, bounded);
        Arrival arrival = ArrivalCodec.encode(command, new SessionRecord(9, "läbel", Duration.ofSeconds(30)));
        assertThat(ArrivalCodec.decode(arrival)).hasValueSatisfying(request -> {
            assertThat(request.command()).isEqualTo(command);
            assertThat(request.session()).isEqualTo(new SessionRecord(3, "läbel", Duration.ofSeconds(30)));
        });
    }

    @Test
    void whatIsDamagedIsLeftAlone() {
        Arrival whole = ArrivalCodec.encode(
                claim(new SessionId("s"), 7), new SessionRecord(0, "label", Duration.ofSeconds(30)));
        for (int length = 0; length < whole.request().length; length++) {
            Arrival part = new Arrival(whole.claim(), 0, Arrays.copyOf(whole.request(), length));
            assertThat(ArrivalCodec.decode(part))
                    .as("the first %d bytes", length)
                    .isEmpty();
        }
        assertThat(ArrivalCodec.decode(
                        new Arrival(whole.claim(), 0, Arrays.copyOf(whole.request(), whole.request().length + 1))))
                .isEmpty();
        Step step = step();
        step.add(List.of(new Arrival(whole.claim(), 0, new byte[] {99})), 1);
        assertThat(step.isChange()).isFalse();
    }

    /** Otherwise it would make the next write of each other client fail. */
    @Test
    void noDamagedOctetOfAnArrivalMakesAStepFail() {
        Lease bounded = new Lease(Lease.Binding.BOUNDED, Duration.ofMillis(12_345));
        Arrival whole = ArrivalCodec.encode(
                claim(new SessionId("s"), 7, 0, SEMAPHORE, bounded), new SessionRecord(0, "label", Duration.ofDays(1)));
        int understood = 0;
        for (int at = 0; at < whole.request().length; at++) {
            for (int octet = 0; octet < 256; octet++) {
                byte[] damaged = whole.request().clone();
                damaged[at] = (byte) octet;
                Arrival arrival = new Arrival(whole.claim(), 0, damaged);
                Step step = step();
                step.add(List.of(arrival), 1);
                understood += ArrivalCodec.decode(arrival).isPresent() ? 1 : 0;
            }
        }
        assertThat(understood).isPositive();
    }

    @Test
    void noGreatestNumbersInAnArrivalMakeAStepFail() {
        String greatest = "ffffffffffffffff7f";
        Lease bounded = new Lease(Lease.Binding.BOUNDED, Duration.ofMillis(12_345));
        Arrival arrival = ArrivalCodec.encode(
                claim(new SessionId("s"), 7, 0, SEMAPHORE, bounded), new SessionRecord(0, "label", Duration.ofDays(1)));
        String whole = HexFormat.of().formatHex(arrival.request());
        for (int from = 0; from < whole.length(); from += 2) {
            for (int to = from + 2; to <= Math.min(from + 14, whole.length()); to += 2) {
                String damaged = whole.substring(0, from) + greatest.repeat(2) + whole.substring(to);
                Step step = step();
                step.add(List.of(new Arrival(arrival.claim(), 0, HexFormat.of().parseHex(damaged))), 1);
                assertThat(step.isChange()).as(damaged).isFalse();
            }
        }
    }

    @Test
    void theFirstIsGrantedAndTheOthersQueueInTheirOrder() {
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            arrivals.add(announced(claim(session(), 1)));
        }
        Step step = step();
        step.add(arrivals, 1);
        assertThat(step.notices())
                .extracting(Notice::claim)
                .containsExactly(arrivals.get(0).claim());
        assertThat(step.view().waiting())
                .containsExactly(arrivals.get(1).claim(), arrivals.get(2).claim());
        assertThat(written(step)).isInstanceOf(WriteResult.Written.class);
        assertThat(answer(server.arrivals(NAME)).waiting()).isEmpty();
        assertThat(answer(server.claims(arrivals.get(1).claim().session(), Optional.empty(), 10)))
                .hasValueSatisfying(page -> assertThat(page.entries()).hasSize(1));
    }

    @Test
    void mailTellsTheTokensThatAPollTellsThoughTheStepMadeTheRecord() {
        try (RegisterStore receiver = RegisterStore.over(memory.connect())) {
            List<Signal> told = new ArrayList<>();
            try (LockStore.Subscription subscription = receiver.subscribe(told::add)) {
                SessionId session = ((Reply.SessionOpened)
                                reply(receiver, new Command.OpenSession(Duration.ofMinutes(1), "label")))
                        .session();
                for (int i = 1; i <= 3; i++) {
                    Arrival arrival = announced(claim(session, i));
                    Step step = step();
                    step.add(List.of(arrival), 1);
                    byte[] mail = MailCodec.encode(step.notices(), new byte[0]);
                    assertThat(answer(server.write(step.write(Map.of(session, mail)))))
                            .isInstanceOf(WriteResult.Written.class);
                    Reply.Polled polled = (Reply.Polled) reply(receiver, new Command.Poll(List.of(arrival.claim())));
                    Reply.Granted grant = (Reply.Granted) polled.states().get(0);
                    assertThat(told.remove(0)).isEqualTo(new Signal.Granted(arrival.claim(), grant));
                    assertThat(reply(receiver, new Command.Release(arrival.claim())))
                            .isEqualTo(new Reply.Released());
                    assertThat(answer(server.read(NAME)).state()).isEmpty();
                }
            }
        }
    }

    private static Reply reply(LockStore store, Command command) {
        return answer(store.execute(command, CallerMode.ASYNC));
    }

    @Test
    void whatWasTakenInIsNotTakenInAgain() {
        Arrival arrival = announced(claim(session(), 1));
        Step first = step();
        Step second = step();
        first.add(List.of(arrival), 1);
        second.add(List.of(arrival), 1);
        assertThat(written(first)).isInstanceOf(WriteResult.Written.class);
        assertThat(written(second))
                .isInstanceOfSatisfying(
                        WriteResult.Refused.class,
                        refused -> assertThat(refused.isConflict()).isTrue());
    }

    @Test
    void whatWouldBeRefusedIsLeftToItsOwnClient() {
        Arrival mutex = announced(claim(session(), 1));
        Arrival semaphore = announced(claim(session(), 1, 0, SEMAPHORE, Lease.SESSION));
        Step step = step();
        step.add(List.of(mutex, semaphore), 1);
        ConditionalWrite write = step.write(Map.of());
        assertThat(write.arrivals()).containsExactly(mutex);
        assertThat(write.writers()).containsOnlyKeys(mutex.claim().session());
    }

    /** If its client could not retract it, it would make the next write of each other client fail. */
    @Test
    void anArrivalUnderAnEpochThatWasRaisedSinceIsVoidAndRemoved() {
        SessionId session = session();
        Arrival arrival = announced(claim(session, 1));
        assertThat(answer(server.raiseEpoch(session, 2))).contains(2L);
        Step unaware = step();
        unaware.add(List.of(arrival), 1);
        assertThat(written(unaware))
                .isInstanceOfSatisfying(
                        WriteResult.Refused.class,
                        refused -> assertThat(refused.raised()).isEqualTo(Map.of(session, 2L)));
        facts.epoch(session, 2);
        Step aware = step();
        aware.add(List.of(arrival), 1);
        assertThat(aware.view().parties()).isZero();
        assertThat(written(aware)).isInstanceOf(WriteResult.Written.class);
        assertThat(answer(server.arrivals(NAME)).waiting()).isEmpty();
    }

    @Test
    void anArrivalOfASessionThatHasEndedIsVoid() {
        SessionId session = session();
        Arrival arrival = announced(claim(session, 1));
        var unused = answer(server.closeSession(session).thenApply(done -> true));
        Step unaware = step();
        unaware.add(List.of(arrival), 1);
        assertThat(written(unaware))
                .isInstanceOfSatisfying(
                        WriteResult.Refused.class,
                        refused -> assertThat(refused.gone()).containsExactly(session));
        facts.gone(session);
        Step aware = step();
        aware.add(List.of(arrival), 1);
        assertThat(aware.isChange()).isFalse();
    }

    @Test
    void itsOwnClientRemovesItWhateverComesOfTheClaim() {
        Arrival held = announced(claim(session(), 1));
        Step first = step();
        first.add(List.of(held), 1);
        assertThat(written(first)).isInstanceOf(WriteResult.Written.class);
        Arrival refused = announced(claim(session(), 1, 0, SEMAPHORE, Lease.SESSION));
        Step own = step();
        own.remove(refused);
        assertThat(own.isChange()).isTrue();
        assertThat(written(own)).isInstanceOf(WriteResult.Written.class);
        assertThat(answer(server.arrivals(NAME)).waiting()).isEmpty();
        assertThat(step().view().holders()).containsExactly(held.claim());
    }

    @Test
    void oneStepTakesInNoMoreThanAWriteCanChange() {
        assertThat(takenIn(traits(120, 1_000_000), 5)).isEqualTo(120 / 4 - 5);
    }

    @Test
    void oneStepTakesInNoMoreThanAWriteHasRoomFor() {
        assertThat(takenIn(traits(4_000, 100_000), 5)).isBetween(50, 90);
    }

    /** A path may need three octets for one, and is in several requests of the write. */
    @Test
    void longNamesAndRequestsLeaveRoomForFewer() {
        assertThat(takenIn(new ResourceName("n".repeat(500)), "label", traits(4_000, 100_000), 5))
                .isLessThanOrEqualTo(50_000 / (8 * 500));
        assertThat(takenIn(NAME, "l".repeat(256), traits(4_000, 100_000), 5))
                .isLessThanOrEqualTo(50_000 / (512 + 2 * 256));
    }

    @Test
    void stepThatOnlyQueuesClaimsDependsOnTheHolderAlone() {
        SessionId holder = session();
        Step first = step();
        facts.session(holder, new SessionRecord(0, "label", Duration.ofMinutes(1)));
        assertThat(first.execute(claim(holder, 1)).on(0)).isInstanceOf(Reply.Granted.class);
        assertThat(written(first)).isInstanceOf(WriteResult.Written.class);
        Arrival arrival = announced(claim(session(), 1));
        Step step = step();
        step.add(List.of(arrival), 1);
        assertThat(step.execute(claim(holder, 2)).on(0)).isInstanceOf(Reply.Queued.class);
        assertThat(step.decisive(16)).containsExactly(holder);
        Step other = step();
        other.add(List.of(arrival), 2);
        for (long number = 2; number <= 3; number++) {
            var unused = other.execute(new Command.Withdraw(new ClaimRef(NAME, holder, number), Sending.FIRST));
        }
        assertThat(other.decisive(16)).contains(arrival.claim().session());
    }

    private static RegisterTraits traits(int maxChanges, int maxStateBytes) {
        Duration second = Duration.ofSeconds(1);
        return new RegisterTraits(
                "small",
                "small",
                RegisterTraits.Clock.REVISIONS,
                second,
                second,
                second,
                true,
                true,
                false,
                maxStateBytes,
                maxChanges);
    }

    private int takenIn(RegisterTraits traits, int calls) {
        return takenIn(NAME, "label", traits, calls);
    }

    /** How many of 200 announced claims a step adds with this many commands. */
    private int takenIn(ResourceName name, String label, RegisterTraits traits, int calls) {
        SessionId session = session();
        List<Arrival> arrivals = new ArrayList<>();
        for (int i = 1; i <= 200; i++) {
            Acquire claim = new Acquire(
                    new ClaimRef(name, session, i),
                    0,
                    Sending.FIRST,
                    ResourceSpec.MUTEX,
                    1,
                    Lease.SESSION,
                    Waiting.QUEUE,
                    3);
            arrivals.add(ArrivalCodec.encode(claim, new SessionRecord(0, label, Duration.ofMinutes(1))));
        }
        Step step = new Step(name, answer(server.read(name)), facts, traits);
        step.add(arrivals, calls);
        ConditionalWrite write = step.write(Map.of());
        assertThat(write.index())
                .hasSameSizeAs(write.arrivals())
                .extracting(IndexChange::kind)
                .contains(IndexChange.Kind.GRANTED, IndexChange.Kind.QUEUED);
        return write.arrivals().size();
    }
}
