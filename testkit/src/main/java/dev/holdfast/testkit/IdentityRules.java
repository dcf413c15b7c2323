package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.TokenBlock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** I: what is sent again has the effect of one, and nothing old takes effect. */
@Tag("I")
abstract class IdentityRules extends Harness {

    @Test
    @DisplayName("I1: an Acquire that is sent again answers the grant that it has")
    void repeatedAcquireOfAGrant() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger");
        TokenBlock block = held.granted().tokens();
        assertThat(held.granted().tokens()).isEqualTo(block);
        assertThat(held.repeated().granted().tokens()).isEqualTo(block);
        assertThat(held.tried().granted().tokens()).isEqualTo(block);
        assertThat(alice.held()).containsExactly(held.ref());
        held.release();
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I1: an Acquire that is sent again while it waits keeps its one place in the queue")
    void repeatedAcquireKeepsItsPlace() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = alice.mutex("ledger").expectQueued();
        first.expectQueued();
        first.repeated().expectQueued();
        assertThat(bob.waiting()).containsExactly(first.ref());
        held.release();
        first.expectHeld();
        second.expectWaiting();
        first.release();
        second.expectHeld();
        second.release();
        first.expectGone();
        assertThat(bob.held()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the release")
    void lateDuplicateAfterRelease() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        alice.raiseEpoch();
        held.release();
        held.expectStale();
        held.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
        held.expectStale();
        assertThat(alice.held()).isEmpty();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal of the grant")
    void lateDuplicateAfterWithdrawal() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").repeated().expectGranted();
        alice.raiseEpoch();
        held.withdrawUnknown();
        held.expectStale();
        held.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal from the queue")
    void lateDuplicateAfterLeavingTheQueue() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = bob.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        alice.raiseEpoch();
        waits.withdrawUnknown();
        waits.expectStale();
        held.release();
        waits.expectGone();
        bob.mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I2: an Acquire that arrives after its own withdrawal does nothing")
    void acquireAfterItsWithdrawal() {
        Client alice = bench.client("alice");
        Probe slow = alice.mutex("ledger");
        alice.raiseEpoch();
        slow.withdrawUnknown();
        slow.expectStale();
        slow.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I3: stale speaks of the sending alone: under the present epoch the same claim goes through")
    void staleIsNoRefusal() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        Probe early = alice.mutex("other");
        alice.raiseEpoch();
        early.expectStale();
        held.expectStale();
        waits.expectStale();
        TokenBlock block = held.block();
        waits.expectWaiting();
        early.under(1).expectGranted();
        assertThat(held.under(1).granted().tokens()).isEqualTo(block);
        waits.under(1).expectQueued();
        held.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("I4: a claim is its resource, its session and its number; no part of it is enough")
    void identityIsComplete() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe one = alice.mutex("one").numbered(77).expectGranted();
        Probe two = alice.mutex("two").numbered(77).expectGranted();
        Probe other = bob.mutex("one").numbered(77).expectQueued();
        bob.mutex("two").numbered(77).tried().expectRefused(Refusal.TAKEN);
        two.release();
        one.expectHeld();
        other.expectWaiting();
        other.withdraw();
        one.expectHeld();
        one.release();
        other.expectGone();
    }

    @Test
    @DisplayName("I5: a Yield that is stale or refused leaves the grant as it was")
    void yieldIsAllOrNothing() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        TokenBlock block = held.block();
        Probe stale = alice.mutex("ledger");
        alice.raiseEpoch();
        assertThat(held.yieldFor(stale)).isInstanceOf(Reply.Stale.class);
        Probe other = alice.probe("ledger", new ResourceSpec(Kind.TASK, 1, Order.FAIR), 1);
        assertThat(held.yieldFor(other))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.MISMATCH));
        assertThat(held.block()).isEqualTo(block);
        waits.expectWaiting();
        stale.expectGone();
        other.expectGone();
        held.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("I5: a Yield for a claim that is too heavy leaves the grant as it was")
    void yieldForTooHeavyAClaim() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Probe held = alice.permits("gpu", 2, 4).expectGranted();
        alice.send(
                new Command.Resize(
                        held.ref().resource(), alice.sessionOf(held.ref().resource()), 0, 2),
                Reply.Done.class);
        Probe heavy = alice.permits("gpu", 3, 4);
        assertThat(held.yieldFor(heavy))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_HEAVY));
        held.expectHeld();
        heavy.expectGone();
    }

    @Test
    @DisplayName("I6: a Yield that is sent again answers the state of the next claim, which keeps its one place")
    void repeatedYield() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.expectHeld();
        Probe last = bob.mutex("ledger").expectQueued();
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        assertThat(alice.waiting()).containsExactly(next.ref());
        waits.release();
        TokenBlock block = next.block();
        assertThat(held.yieldFor(next))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens()).isEqualTo(block));
        last.expectWaiting();
        next.release();
        last.expectHeld();
    }

    @Test
    @DisplayName("I6: a Yield whose grant is gone makes the next claim if it isn't there")
    void yieldOfAGoneGrant() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        held.release();
        waits.expectHeld();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.release();
        next.expectHeld();
        held.expectGone();
    }

    @Test
    @DisplayName("I6: a late duplicate of a Yield does nothing once both halves are settled")
    void lateDuplicateOfAYield() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe next = alice.mutex("ledger").repeated();
        assertThat(held.yieldFor(next)).isInstanceOf(bench.yieldedAlone());
        alice.raiseEpoch();
        next.withdrawUnknown();
        held.withdrawUnknown();
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Stale.class);
        next.expectGone();
        held.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I7: a Yield gives way to those who wait, and its next claim stands behind them")
    void yieldGoesToTheTail() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = bob.mutex("ledger").expectQueued();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        held.expectGone();
        first.expectHeld();
        next.expectWaiting();
        first.release();
        second.expectHeld();
        second.release();
        next.expectHeld();
    }

    @Test
    @DisplayName("I7: a Yield that nobody waits for goes on, with greater tokens")
    void yieldWhenAlone() {
        Bench.needs(
                bench.traits.has(Feature.KNOWN_WAITERS),
                "the store can't know that nobody waits, so a Yield always gives way");
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        long before = held.block().last();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens().first()).isGreaterThan(before));
        held.expectGone();
        next.expectHeld();
    }

    @Test
    @DisplayName("I7: a reader that yields lets the waiting writer in, and reads again after it")
    void readerYieldsToWriter() {
        bench.needsAdmission(Admission.SHARED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe reads = alice.reader("catalogue").expectGranted();
        Probe writer = bob.writer("catalogue").expectQueued();
        Probe again = alice.reader("catalogue");
        assertThat(reads.yieldFor(again)).isInstanceOf(Reply.Queued.class);
        writer.expectHeld();
        again.expectWaiting();
        writer.release();
        again.expectHeld();
    }

    @Test
    @DisplayName("I8: what has ended can be ended again, and nobody else is touched by it")
    void endingTwice() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        Probe last = alice.mutex("ledger").expectQueued();
        held.release();
        alice.send(new Command.Release(held.ref()), Reply.Absent.class);
        held.withdraw();
        held.withdrawUnknown();
        next.expectHeld();
        last.expectWaiting();
    }
}
