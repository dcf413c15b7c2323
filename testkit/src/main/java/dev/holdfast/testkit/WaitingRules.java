package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** W: waiting claims, and how they are notified of their grant. */
@Tag("W")
abstract class WaitingRules extends ConformanceRules {

    /** The ways in which a grant can end; the last one ends its session. */
    private static final List<String> ENDS = List.of("release", "withdraw", "force", "yield", "close");

    /** Ends the grant of a holder of the lock that is named after how it ends. */
    private static void end(String how, TestClient owner, Probe holder) {
        switch (how) {
            case "release" -> holder.release();
            case "withdraw" -> holder.withdraw();
            case "force" ->
                owner.send(
                        new Command.ForceRelease(
                                holder.ref().resource(), holder.block().first()),
                        Reply.Released.class);
            case "yield" -> assertThat(holder.yieldFor(owner.mutex(how))).isInstanceOf(Reply.Queued.class);
            default -> owner.close();
        }
    }

    @Test
    @DisplayName("W1: whatever ends a grant admits the next in the same step")
    void everyEndAdmitsTheNext() {
        TestClient bob = fixture.other("bob");
        TestClient alice = fixture.client("alice");
        for (String how : ENDS) {
            Probe holder = alice.mutex(how).expectGranted();
            Probe next = bob.mutex(how).expectQueued();
            end(how, alice, holder);
            next.expectHeld();
            holder.expectGone();
        }
    }

    @Test
    @DisplayName("W2: a claim that was withdrawn from the queue never holds")
    void withdrawnClaimNeverHolds() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe withdrawn = bob.mutex("ledger").expectQueued();
        withdrawn.withdraw();
        withdrawn.expectGone();
        holder.release();
        withdrawn.expectGone();
        assertThat(fixture.secondSignals)
                .noneMatch(signal -> signal instanceof Signal.Granted granted
                        && granted.claim().equals(withdrawn.ref()));
        alice.mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("W2: who leaves the queue makes way, and the others keep their order")
    void leavingTheQueueKeepsTheOrder() {
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = alice.mutex("ledger").expectQueued();
        Probe third = bob.mutex("ledger").expectQueued();
        Probe fourth = alice.mutex("ledger").expectQueued();
        first.withdraw();
        third.withdraw();
        holder.release();
        second.expectHeld();
        fourth.expectWaiting();
        second.release();
        fourth.expectHeld();
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again within a third of its ttl")
    void recheckIsWithinAThirdOfTheTtl() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger");
        Duration most = bob.ttl.dividedBy(3).plusMillis(1);
        assertThat(waits.queued().recheckIn()).isPositive().isLessThanOrEqualTo(most);
        assertThat(((Reply.Queued) waits.state()).recheckIn()).isPositive().isLessThanOrEqualTo(most);
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when the session of the holder may have ended")
    void recheckFollowsTheHoldersSession() {
        TestClient dies = fixture.shortLived("dies");
        dies.mutex("ledger").expectGranted();
        Reply.Queued queued = fixture.other("bob").mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(dies.ttl);
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when the holder's own lease ends")
    void recheckFollowsTheHoldersLease() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        alice.mutex("ledger").with(Lease.bounded(fixture.shortTtl())).expectGranted();
        Reply.Queued queued = bob.mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(fixture.shortTtl());
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when a claim before it may have died")
    void recheckFollowsTheClaimsBefore() {
        fixture.needsFifo();
        fixture.client("alice").mutex("ledger").expectGranted();
        TestClient dies = fixture.shortLived("dies");
        dies.mutex("ledger").expectQueued();
        Reply.Queued queued = fixture.other("bob").mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(dies.ttl);
    }

    @Test
    @DisplayName("W4: a holder is told whether anybody waits, whoever it is")
    void awaitedIsTold() {
        ConformanceFixture.needs(fixture.traits.has(Feature.KNOWN_WAITERS), "the store does not know who waits");
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger");
        assertThat(holder.granted().awaited()).isFalse();
        assertThat(holder.grant().awaited()).isFalse();
        Probe waits = fixture.other("bob").mutex("ledger").expectQueued();
        assertThat(holder.grant().awaited()).isTrue();
        assertThat(holder.granted().awaited()).isTrue();
        waits.withdraw();
        assertThat(holder.grant().awaited()).isFalse();
        Probe own = alice.mutex("ledger").expectQueued();
        assertThat(holder.grant().awaited()).isTrue();
        own.withdraw();
        assertThat(holder.grant().awaited()).isFalse();
    }

    @Test
    @DisplayName("W4: waiters that have died are not waited for")
    void deadWaitersDoNotCount() {
        ConformanceFixture.needs(fixture.traits.has(Feature.KNOWN_WAITERS), "the store does not know who waits");
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = dies.mutex("ledger").expectQueued();
        assertThat(holder.grant().awaited()).isTrue();
        fixture.until("the waiter has died", waits::isOver);
        assertThat(holder.grant().awaited()).isFalse();
    }

    @Test
    @DisplayName("W5: who is admitted from the queue is told, with the whole answer")
    void admittedClaimIsTold() {
        ConformanceFixture.needs(fixture.traits.has(Feature.PUSH), "the store pushes nothing");
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").wanting(16).expectQueued();
        Probe behind = alice.mutex("ledger").expectQueued();
        holder.release();
        fixture.soon(
                "the waiter is told", () -> fixture.secondSignals.stream().anyMatch(signal -> isAbout(signal, waits)));
        Signal received = fixture.secondSignals.stream()
                .filter(signal -> isAbout(signal, waits))
                .findFirst()
                .orElseThrow();
        if (received instanceof Signal.Granted granted) {
            assertThat(granted.grant()).isEqualTo(waits.grant());
        }
        behind.expectWaiting();
    }

    @Test
    @DisplayName("W5: whatever ends a grant, the client of the next claim is notified without a poll")
    void everyEndNotifiesTheNext() {
        ConformanceFixture.needs(fixture.traits.has(Feature.PUSH), "the store pushes nothing");
        TestClient bob = fixture.other("bob");
        TestClient alice = fixture.client("alice");
        for (String how : ENDS) {
            Probe holder = alice.mutex(how).expectGranted();
            Probe next = bob.mutex(how).expectQueued();
            end(how, alice, holder);
            fixture.soon(
                    "the client of the claim that is next after '" + how + "' is notified",
                    () -> fixture.secondSignals.stream().anyMatch(signal -> isAbout(signal, next)));
        }
    }

    @Test
    @DisplayName("W5: of a fixed lease that is granted from the queue, the claimant is only told to look")
    void fixedLeaseIsOnlyHinted() {
        ConformanceFixture.needs(fixture.traits.has(Feature.PUSH), "the store pushes nothing");
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = fixture.other("bob")
                .mutex("ledger")
                .with(Lease.bounded(Duration.ofHours(1)))
                .expectQueued();
        holder.release();
        fixture.soon(
                "the waiter is told", () -> fixture.secondSignals.stream().anyMatch(signal -> isAbout(signal, waits)));
        assertThat(fixture.secondSignals).contains(new Signal.Changed(waits.ref()));
        waits.expectHeld();
    }

    @Test
    @DisplayName("W5: the end of a session and a forced release are told to the session they concern")
    void endsAreTold() {
        ConformanceFixture.needs(fixture.traits.has(Feature.PUSH), "the store pushes nothing");
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        Probe forced = alice.mutex("forced").expectGranted();
        Probe expires = dies.mutex("expires").expectGranted();
        bob.send(
                new Command.ForceRelease(forced.ref().resource(), forced.block().first()), Reply.Released.class);
        fixture.soon("the holder is told", () -> fixture.firstSignals.contains(new Signal.Revoked(forced.ref())));
        Probe next = bob.mutex("expires").expectQueued();
        fixture.until("the session has ended", next::holds);
        fixture.soon(
                "the session is told",
                () -> fixture.firstSignals.contains(new Signal.SessionEnded(dies.sessionOf(expires))));
        expires.expectGone();
        assertThat(fixture.secondSignals)
                .doesNotContain(new Signal.Revoked(forced.ref()), new Signal.SessionEnded(dies.sessionOf(expires)));
    }

    @Test
    @DisplayName("W8: each of several listeners is told, whatever others throw, until its own subscription is closed")
    void eachListenerIsTold() {
        ConformanceFixture.needs(fixture.traits.has(Feature.PUSH), "the store pushes nothing");
        Queue<Signal> leaves = new ConcurrentLinkedQueue<>();
        Queue<Signal> stays = new ConcurrentLinkedQueue<>();
        fixture.second.subscribe(signal -> {
            throw new IllegalStateException("the kit tries how a store bears a listener that fails");
        });
        LockStore.Subscription leaving = fixture.second.subscribe(leaves::add);
        fixture.second.subscribe(stays::add);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");

        Probe first = isAdmitted(alice, bob, "first");
        for (Queue<Signal> signals : List.of(fixture.secondSignals, leaves, stays)) {
            fixture.soon("all are told", () -> signals.stream().anyMatch(signal -> isAbout(signal, first)));
        }
        leaving.close();
        leaving.close();
        Probe second = isAdmitted(alice, bob, "second");
        for (Queue<Signal> signals : List.of(fixture.secondSignals, stays)) {
            fixture.soon("the others are told", () -> signals.stream().anyMatch(signal -> isAbout(signal, second)));
        }
        assertThat(leaves).noneMatch(signal -> isAbout(signal, second));
    }

    /** Waits until the holder yields. */
    private static Probe isAdmitted(TestClient owner, TestClient waiter, String name) {
        Probe holder = owner.mutex(name).expectGranted();
        Probe waits = waiter.mutex(name).expectQueued();
        holder.release();
        return waits;
    }

    private static boolean isAbout(Signal signal, Probe probe) {
        boolean granted =
                signal instanceof Signal.Granted grant && grant.claim().equals(probe.ref());
        boolean changed =
                signal instanceof Signal.Changed change && change.claim().equals(probe.ref());
        return granted || changed;
    }

    @Test
    @DisplayName("W6: a poll answers for each claim in the order of the request, and knows what it does not know")
    void pollAnswersInOrder() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("a").expectGranted();
        Probe waits = bob.mutex("a").expectQueued();
        Probe never = alice.mutex("never");
        Probe gone = alice.mutex("b").expectGranted();
        gone.release();
        List<ClaimRef> refs = List.of(never.ref(), waits.ref(), holder.ref(), gone.ref(), waits.ref());
        Reply.Polled polled = bob.send(new Command.Poll(refs), Reply.Polled.class);
        assertThat(polled.states())
                .extracting(state -> (Object) state.getClass())
                .containsExactly(
                        Reply.Absent.class,
                        Reply.Queued.class,
                        Reply.Granted.class,
                        Reply.Absent.class,
                        Reply.Queued.class);
        assertThat(bob.send(new Command.Poll(List.of()), Reply.Polled.class).states())
                .isEmpty();
    }

    @Test
    @DisplayName("W6: a poll of many claims on many resources is answered in one go")
    void pollOfMany() {
        TestClient alice = fixture.client("alice");
        List<ClaimRef> refs = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            refs.add(alice.mutex("many-" + i).expectGranted().ref());
        }
        Reply.Polled polled = alice.send(new Command.Poll(refs), Reply.Polled.class);
        assertThat(polled.states()).hasSize(300).allMatch(state -> state instanceof Reply.Granted);
    }

    @Test
    @DisplayName("W7: a long queue is served in its order")
    void longQueue() {
        fixture.needsFifo();
        fixture.needsAdmission(Admission.EXCLUSIVE);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        List<Probe> queue = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            queue.add((i % 2 == 0 ? bob : alice).mutex("ledger").expectQueued());
        }
        for (Probe next : queue) {
            holder.release();
            next.expectHeld();
            holder = next;
        }
    }
}
