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
abstract class IdentityRules extends ConformanceRules {

    @Test
    @DisplayName("I1: an Acquire that is sent again answers the grant that it has")
    void repeatedAcquireOfAGrant() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger");
        TokenBlock block = holder.granted().tokens();
        assertThat(holder.granted().tokens()).isEqualTo(block);
        assertThat(holder.repeated().granted().tokens()).isEqualTo(block);
        assertThat(holder.tried().granted().tokens()).isEqualTo(block);
        assertThat(alice.claims()).containsExactly(holder.ref());
        holder.release();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I1: an Acquire that is sent again while it waits keeps its one place in the queue")
    void repeatedAcquireKeepsItsPlace() {
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = alice.mutex("ledger").expectQueued();
        first.expectQueued();
        first.repeated().expectQueued();
        assertThat(bob.waiting()).containsExactly(first.ref());
        holder.release();
        first.expectHeld();
        second.expectWaiting();
        first.release();
        second.expectHeld();
        second.release();
        first.expectGone();
        assertThat(bob.claims()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the release")
    void lateDuplicateAfterRelease() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        alice.raiseEpoch();
        holder.release();
        holder.expectStale();
        holder.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
        holder.expectStale();
        assertThat(alice.claims()).isEmpty();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal of the grant")
    void lateDuplicateAfterWithdrawal() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").repeated().expectGranted();
        alice.raiseEpoch();
        holder.withdrawUnknown();
        holder.expectStale();
        holder.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I2: a late duplicate of an Acquire does nothing after the withdrawal from the queue")
    void lateDuplicateAfterLeavingTheQueue() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = bob.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        alice.raiseEpoch();
        waits.withdrawUnknown();
        waits.expectStale();
        holder.release();
        waits.expectGone();
        bob.mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I2: an Acquire that arrives after its own withdrawal does nothing")
    void acquireAfterItsWithdrawal() {
        TestClient alice = fixture.client("alice");
        Probe slow = alice.mutex("ledger");
        alice.raiseEpoch();
        slow.withdrawUnknown();
        slow.expectStale();
        slow.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
        assertThat(alice.waiting()).isEmpty();
    }

    @Test
    @DisplayName("I3: stale speaks of the sending alone: under the present epoch the same claim goes through")
    void staleIsNoRefusal() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = alice.mutex("ledger").expectQueued();
        Probe early = alice.mutex("other");
        alice.raiseEpoch();
        early.expectStale();
        holder.expectStale();
        waits.expectStale();
        TokenBlock block = holder.block();
        waits.expectWaiting();
        early.under(1).expectGranted();
        assertThat(holder.under(1).granted().tokens()).isEqualTo(block);
        waits.under(1).expectQueued();
        holder.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("I4: a claim is its resource, its session and its number; no part of it is enough")
    void identityIsComplete() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
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
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        TokenBlock block = holder.block();
        Probe stale = alice.mutex("ledger");
        alice.raiseEpoch();
        assertThat(holder.yieldFor(stale)).isInstanceOf(Reply.Stale.class);
        Probe other = alice.probe("ledger", new ResourceSpec(Kind.TASK, 1, Order.FAIR), 1);
        assertThat(holder.yieldFor(other))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.MISMATCH));
        assertThat(holder.block()).isEqualTo(block);
        waits.expectWaiting();
        stale.expectGone();
        other.expectGone();
        holder.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("I5: a Yield for a claim that is too heavy leaves the grant as it was")
    void yieldForTooHeavyAClaim() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        Probe holder = alice.permits("gpu", 2, 4).expectGranted();
        alice.send(
                new Command.Resize(
                        holder.ref().resource(), alice.sessionOf(holder.ref().resource()), 0, 2),
                Reply.Done.class);
        Probe heavy = alice.permits("gpu", 3, 4);
        assertThat(holder.yieldFor(heavy))
                .isInstanceOfSatisfying(
                        Reply.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo(Refusal.TOO_HEAVY));
        holder.expectHeld();
        heavy.expectGone();
    }

    @Test
    @DisplayName("I6: a Yield that is sent again answers the state of the next claim, which keeps its one place")
    void repeatedYield() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        Probe next = alice.mutex("ledger");
        assertThat(holder.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.expectHeld();
        Probe last = bob.mutex("ledger").expectQueued();
        assertThat(holder.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        assertThat(alice.waiting()).containsExactly(next.ref());
        waits.release();
        TokenBlock block = next.block();
        assertThat(holder.yieldFor(next))
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
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        holder.release();
        waits.expectHeld();
        Probe next = alice.mutex("ledger");
        assertThat(holder.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        waits.release();
        next.expectHeld();
        holder.expectGone();
    }

    @Test
    @DisplayName("I6: a late duplicate of a Yield does nothing once both halves are settled")
    void lateDuplicateOfAYield() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe next = alice.mutex("ledger").repeated();
        assertThat(holder.yieldFor(next)).isInstanceOf(fixture.yieldedAlone());
        alice.raiseEpoch();
        next.withdrawUnknown();
        holder.withdrawUnknown();
        assertThat(holder.yieldFor(next)).isInstanceOf(Reply.Stale.class);
        next.expectGone();
        holder.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("I7: a Yield gives way to those who wait, and its next claim stands behind them")
    void yieldGoesToTheTail() {
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe first = bob.mutex("ledger").expectQueued();
        Probe second = bob.mutex("ledger").expectQueued();
        Probe next = alice.mutex("ledger");
        assertThat(holder.yieldFor(next)).isInstanceOf(Reply.Queued.class);
        holder.expectGone();
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
        ConformanceFixture.needs(
                fixture.traits.has(Feature.KNOWN_WAITERS),
                "the store can't know that nobody waits, so a Yield always gives way");
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        long before = holder.block().last();
        Probe next = alice.mutex("ledger");
        assertThat(holder.yieldFor(next))
                .isInstanceOfSatisfying(
                        Reply.Granted.class,
                        granted -> assertThat(granted.tokens().first()).isGreaterThan(before));
        holder.expectGone();
        next.expectHeld();
    }

    @Test
    @DisplayName("I7: a reader that yields lets the waiting writer in, and reads again after it")
    void readerYieldsToWriter() {
        fixture.needsAdmission(Admission.SHARED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
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
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        Probe last = alice.mutex("ledger").expectQueued();
        holder.release();
        alice.send(new Command.Release(holder.ref()), Reply.Absent.class);
        holder.withdraw();
        holder.withdrawUnknown();
        next.expectHeld();
        last.expectWaiting();
    }
}
