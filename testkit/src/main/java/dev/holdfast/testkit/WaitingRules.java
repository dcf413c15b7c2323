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

/** W: claims that wait, and how they learn that they don't any more. */
@Tag("W")
abstract class WaitingRules extends Harness {

    @Test
    @DisplayName("W1: whatever ends a grant admits the next in the same step")
    void everyEndAdmitsTheNext() {
        Client bob = bench.other("bob");
        Client alice = bench.client("alice");
        for (String end : List.of("release", "withdraw", "force", "yield", "close")) {
            Probe held = alice.mutex("by-" + end).expectGranted();
            Probe next = bob.mutex("by-" + end).expectQueued();
            switch (end) {
                case "release" -> held.release();
                case "withdraw" -> held.withdraw();
                case "force" ->
                    alice.send(
                            new Command.ForceRelease(
                                    held.ref().resource(), held.block().first()),
                            Reply.Released.class);
                case "yield" ->
                    assertThat(held.yieldFor(alice.mutex("by-yield"))).isInstanceOf(Reply.Queued.class);
                default -> alice.close();
            }
            next.expectHeld();
            held.expectGone();
        }
    }

    @Test
    @DisplayName("W2: a claim that was withdrawn from the queue never holds")
    void withdrawnClaimNeverHolds() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe withdrawn = bob.mutex("ledger").expectQueued();
        withdrawn.withdraw();
        withdrawn.expectGone();
        held.release();
        withdrawn.expectGone();
        assertThat(bench.toldSecond)
                .noneMatch(signal -> signal instanceof Signal.Granted granted
                        && granted.claim().equals(withdrawn.ref()));
        alice.mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("W2: who leaves the queue makes way, and the others keep their order")
    void leavingTheQueueKeepsTheOrder() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = alice.mutex("ledger").expectQueued();
        Probe third = bob.mutex("ledger").expectQueued();
        Probe fourth = alice.mutex("ledger").expectQueued();
        first.withdraw();
        third.withdraw();
        held.release();
        second.expectHeld();
        fourth.expectWaiting();
        second.release();
        fourth.expectHeld();
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again within a third of its ttl")
    void recheckIsWithinAThirdOfTheTtl() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger");
        Duration most = bob.ttl.dividedBy(3).plusMillis(1);
        assertThat(waits.queued().recheckIn()).isPositive().isLessThanOrEqualTo(most);
        assertThat(((Reply.Queued) waits.state()).recheckIn()).isPositive().isLessThanOrEqualTo(most);
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when the session of the holder may have ended")
    void recheckFollowsTheHoldersSession() {
        Client dies = bench.shortLived("dies");
        dies.mutex("ledger").expectGranted();
        Reply.Queued queued = bench.other("bob").mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(dies.ttl);
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when the holder's own lease ends")
    void recheckFollowsTheHoldersLease() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        alice.mutex("ledger").with(Lease.bounded(bench.shortTtl())).expectGranted();
        Reply.Queued queued = bob.mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(bench.shortTtl());
    }

    @Test
    @DisplayName("W3: a waiting claim is told to look again when a claim before it may have died")
    void recheckFollowsTheClaimsBefore() {
        bench.needsFifo();
        bench.client("alice").mutex("ledger").expectGranted();
        Client dies = bench.shortLived("dies");
        dies.mutex("ledger").expectQueued();
        Reply.Queued queued = bench.other("bob").mutex("ledger").queued();
        assertThat(queued.recheckIn()).isPositive().isLessThanOrEqualTo(dies.ttl);
    }

    @Test
    @DisplayName("W4: a holder is told whether anybody waits, whoever it is")
    void awaitedIsTold() {
        Bench.needs(bench.traits.has(Feature.KNOWN_WAITERS), "the store does not know who waits");
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger");
        assertThat(held.granted().awaited()).isFalse();
        assertThat(held.grant().awaited()).isFalse();
        Probe waits = bench.other("bob").mutex("ledger").expectQueued();
        assertThat(held.grant().awaited()).isTrue();
        assertThat(held.granted().awaited()).isTrue();
        waits.withdraw();
        assertThat(held.grant().awaited()).isFalse();
        Probe own = alice.mutex("ledger").expectQueued();
        assertThat(held.grant().awaited()).isTrue();
        own.withdraw();
        assertThat(held.grant().awaited()).isFalse();
    }

    @Test
    @DisplayName("W4: waiters that have died are not waited for")
    void deadWaitersDoNotCount() {
        Bench.needs(bench.traits.has(Feature.KNOWN_WAITERS), "the store does not know who waits");
        Client alice = bench.client("alice");
        Client dies = bench.shortLived("dies");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = dies.mutex("ledger").expectQueued();
        assertThat(held.grant().awaited()).isTrue();
        bench.until("the waiter has died", waits::isOver);
        assertThat(held.grant().awaited()).isFalse();
    }

    @Test
    @DisplayName("W5: who is admitted from the queue is told, with the whole answer")
    void admittedClaimIsTold() {
        Bench.needs(bench.traits.has(Feature.PUSH), "the store pushes nothing");
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").wanting(16).expectQueued();
        Probe behind = alice.mutex("ledger").expectQueued();
        held.release();
        bench.soon("the waiter is told", () -> bench.toldSecond.stream().anyMatch(signal -> isAbout(signal, waits)));
        Signal told = bench.toldSecond.stream()
                .filter(signal -> isAbout(signal, waits))
                .findFirst()
                .orElseThrow();
        if (told instanceof Signal.Granted granted) {
            assertThat(granted.grant()).isEqualTo(waits.grant());
        }
        behind.expectWaiting();
    }

    @Test
    @DisplayName("W5: of a fixed lease that is granted from the queue, the claimant is only told to look")
    void fixedLeaseIsOnlyHinted() {
        Bench.needs(bench.traits.has(Feature.PUSH), "the store pushes nothing");
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bench.other("bob")
                .mutex("ledger")
                .with(Lease.bounded(Duration.ofHours(1)))
                .expectQueued();
        held.release();
        bench.soon("the waiter is told", () -> bench.toldSecond.stream().anyMatch(signal -> isAbout(signal, waits)));
        assertThat(bench.toldSecond).contains(new Signal.Changed(waits.ref()));
        waits.expectHeld();
    }

    @Test
    @DisplayName("W5: the end of a session and a forced release are told to the session they concern")
    void endsAreTold() {
        Bench.needs(bench.traits.has(Feature.PUSH), "the store pushes nothing");
        Client alice = bench.client("alice");
        Client dies = bench.shortLived("dies");
        Client bob = bench.other("bob");
        Probe forced = alice.mutex("forced").expectGranted();
        Probe expires = dies.mutex("expires").expectGranted();
        bob.send(
                new Command.ForceRelease(forced.ref().resource(), forced.block().first()), Reply.Released.class);
        bench.soon("the holder is told", () -> bench.told.contains(new Signal.Revoked(forced.ref())));
        Probe next = bob.mutex("expires").expectQueued();
        bench.until("the session has ended", next::holds);
        bench.soon("the session is told", () -> bench.told.contains(new Signal.SessionEnded(dies.sessionOf(expires))));
        expires.expectGone();
        assertThat(bench.toldSecond)
                .doesNotContain(new Signal.Revoked(forced.ref()), new Signal.SessionEnded(dies.sessionOf(expires)));
    }

    @Test
    @DisplayName("W8: each of several listeners is told, whatever others throw, until its own subscription is closed")
    void eachListenerIsTold() {
        Bench.needs(bench.traits.has(Feature.PUSH), "the store pushes nothing");
        Queue<Signal> leaves = new ConcurrentLinkedQueue<>();
        Queue<Signal> stays = new ConcurrentLinkedQueue<>();
        bench.second.subscribe(signal -> {
            throw new IllegalStateException("the kit tries how a store bears a listener that fails");
        });
        LockStore.Subscription leaving = bench.second.subscribe(leaves::add);
        bench.second.subscribe(stays::add);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");

        Probe first = isAdmitted(alice, bob, "first");
        for (Queue<Signal> told : List.of(bench.toldSecond, leaves, stays)) {
            bench.soon("all are told", () -> told.stream().anyMatch(signal -> isAbout(signal, first)));
        }
        leaving.close();
        leaving.close();
        Probe second = isAdmitted(alice, bob, "second");
        for (Queue<Signal> told : List.of(bench.toldSecond, stays)) {
            bench.soon("the others are told", () -> told.stream().anyMatch(signal -> isAbout(signal, second)));
        }
        assertThat(leaves).noneMatch(signal -> isAbout(signal, second));
    }

    /** Waits behind another, who gives way. */
    private static Probe isAdmitted(Client holder, Client waiter, String name) {
        Probe held = holder.mutex(name).expectGranted();
        Probe waits = waiter.mutex(name).expectQueued();
        held.release();
        return waits;
    }

    private static boolean isAbout(Signal signal, Probe probe) {
        boolean granted = signal instanceof Signal.Granted told && told.claim().equals(probe.ref());
        boolean changed = signal instanceof Signal.Changed told && told.claim().equals(probe.ref());
        return granted || changed;
    }

    @Test
    @DisplayName("W6: a poll answers for each claim in the order of the request, and knows what it does not know")
    void pollAnswersInOrder() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("a").expectGranted();
        Probe waits = bob.mutex("a").expectQueued();
        Probe never = alice.mutex("never");
        Probe gone = alice.mutex("b").expectGranted();
        gone.release();
        List<ClaimRef> refs = List.of(never.ref(), waits.ref(), held.ref(), gone.ref(), waits.ref());
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
        Client alice = bench.client("alice");
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
        bench.needsFifo();
        bench.needsAdmission(Admission.EXCLUSIVE);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
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
