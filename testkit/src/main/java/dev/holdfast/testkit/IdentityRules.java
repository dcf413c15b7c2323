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
        bench.other("bob").mutex("ledger").tried().isGranted();
    }

    @Test
    @DisplayName("I1: an Acquire that is sent again while it waits keeps its one place in the queue")
    void repeatedAcquireKeepsItsPlace() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe first = bob.mutex("ledger").isQueued();
        Probe second = alice.mutex("ledger").isQueued();
        first.isQueued();
        first.repeated().isQueued();
        assertThat(bob.waiting()).containsExactly(first.ref());
        held.release();
        first.isHeld();
        second.isWaiting();
        first.release();
        second.isHeld();
        second.release();
        first.isGone();
        assertThat(bob.held()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the release")
    void lateDuplicateAfterRelease() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").isGranted();
        alice.raiseEpoch();
        held.release();
        held.isStale();
        held.isGone();
        bench.other("bob").mutex("ledger").tried().isGranted();
        held.isStale();
        assertThat(alice.held()).isEmpty();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal of the grant")
    void lateDuplicateAfterWithdrawal() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").repeated().isGranted();
        alice.raiseEpoch();
        held.withdrawUnknown();
        held.isStale();
        held.isGone();
        bench.other("bob").mutex("ledger").tried().isGranted();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal from the queue")
    void lateDuplicateAfterLeavingTheQueue() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = bob.mutex("ledger").isGranted();
        Probe waits = alice.mutex("ledger").isQueued();
        alice.raiseEpoch();
        waits.withdrawUnknown();
        waits.isStale();
        held.release();
        waits.isGone();
        bob.mutex("ledger").tried().isGranted();
    }

    @Test
    @DisplayName("I2: an Acquire that arrives after its own withdrawal does nothing")
    void acquireAfterItsWithdrawal() {
        Client alice = bench.client("alice");
        Probe slow = alice.mutex("ledger");
        alice.raiseEpoch();
        slow.withdrawUnknown();
        slow.isStale();
        slow.isGone();
        bench.other("bob").mutex("ledger").tried().isGranted();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I3: stale speaks of the sending alone: under the present epoch the same claim goes through")
    void staleIsNoRefusal() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").isGranted();
        Probe waits = alice.mutex("ledger").isQueued();
        Probe early = alice.mutex("other");
        alice.raiseEpoch();
        early.isStale();
        held.isStale();
        waits.isStale();
        TokenBlock block = held.block();
        waits.isWaiting();
        early.under(1).isGranted();
        assertThat(held.under(1).granted().tokens()).isEqualTo(block);
        waits.under(1).isQueued();
        held.release();
        waits.isHeld();
    }

    @Test
    @DisplayName("I4: a claim is its resource, its session and its number; no part of it is enough")
    void identityIsComplete() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe one = alice.mutex("one").numbered(77).isGranted();
        Probe two = alice.mutex("two").numbered(77).isGranted();
        Probe other = bob.mutex("one").numbered(77).isQueued();
        bob.mutex("two").numbered(77).tried().isRefused(Refusal.TAKEN);
        two.release();
        one.isHeld();
        other.isWaiting();
        other.withdraw();
        one.isHeld();
        one.release();
        other.isGone();
    }

    @Test
    @DisplayName("I5: a Yield that is stale or refused leaves the grant as it was")
    void yieldIsAllOrNothing() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe waits = bob.mutex("ledger").isQueued();
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
        waits.isWaiting();
        stale.isGone();
        other.isGone();
        held.release();
        waits.isHeld();
    }

    @Test
    @DisplayName("I5: a Yield for a claim that is too heavy leaves the grant as it was")
    void yieldForTooHeavyAClaim() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Probe held = alice.permits("gpu", 2, 4).isGranted();
        alice.send(
                new Command.Resize(
                        held.ref().resource(), alice.sessionOf(held.ref().resource()), 0, 2),
                Reply.Done.class);
        Probe heavy = alice.permits("gpu", 3, 4);
        assertThat(held.yieldFor(heavy))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_HEAVY));
        held.isHeld();
        heavy.isGone();
    }

    @Test
    @DisplayName("I6: a Yield that is sent again answers the state of the next claim, which keeps its one place")
    void repeatedYield() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe waits = bob.mutex("ledger").isQueued();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.isHeld();
        Probe last = bob.mutex("ledger").isQueued();
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        assertThat(alice.waiting()).containsExactly(next.ref());
        waits.release();
        TokenBlock block = next.block();
        assertThat(held.yieldFor(next))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens()).isEqualTo(block));
        last.isWaiting();
        next.release();
        last.isHeld();
    }

    @Test
    @DisplayName("I6: a Yield whose grant is gone makes the next claim if it isn't there")
    void yieldOfAGoneGrant() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe waits = bob.mutex("ledger").isQueued();
        held.release();
        waits.isHeld();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.release();
        next.isHeld();
        held.isGone();
    }

    @Test
    @DisplayName("I6: a late duplicate of a Yield does nothing once both halves are settled")
    void lateDuplicateOfAYield() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").isGranted();
        Probe next = alice.mutex("ledger").repeated();
        assertThat(held.yieldFor(next)).isInstanceOf(bench.yieldedAlone());
        alice.raiseEpoch();
        next.withdrawUnknown();
        held.withdrawUnknown();
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Stale.class);
        next.isGone();
        held.isGone();
        bench.other("bob").mutex("ledger").tried().isGranted();
    }

    @Test
    @DisplayName("I7: a Yield gives way to those who wait, and its next claim stands behind them")
    void yieldGoesToTheTail() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe first = bob.mutex("ledger").isQueued();
        Probe second = bob.mutex("ledger").isQueued();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        held.isGone();
        first.isHeld();
        next.isWaiting();
        first.release();
        second.isHeld();
        second.release();
        next.isHeld();
    }

    @Test
    @DisplayName("I7: a Yield that nobody waits for goes on, with greater tokens")
    void yieldWhenAlone() {
        Bench.needs(
                bench.traits.has(Feature.KNOWN_WAITERS),
                "the store can't know that nobody waits, so a Yield always gives way");
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").isGranted();
        long before = held.block().last();
        Probe next = alice.mutex("ledger");
        assertThat(held.yieldFor(next))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens().first()).isGreaterThan(before));
        held.isGone();
        next.isHeld();
    }

    @Test
    @DisplayName("I7: a reader that yields lets the waiting writer in, and reads again after it")
    void readerYieldsToWriter() {
        bench.needsAdmission(Admission.SHARED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe reads = alice.reader("catalogue").isGranted();
        Probe writer = bob.writer("catalogue").isQueued();
        Probe again = alice.reader("catalogue");
        assertThat(reads.yieldFor(again)).isInstanceOf(Reply.Queued.class);
        writer.isHeld();
        again.isWaiting();
        writer.release();
        again.isHeld();
    }

    @Test
    @DisplayName("I8: what has ended can be ended again, and nobody else is touched by it")
    void endingTwice() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe next = bob.mutex("ledger").isQueued();
        Probe last = alice.mutex("ledger").isQueued();
        held.release();
        alice.send(new Command.Release(held.ref()), Reply.Absent.class);
        held.withdraw();
        held.withdrawUnknown();
        next.isHeld();
        last.isWaiting();
    }
}
