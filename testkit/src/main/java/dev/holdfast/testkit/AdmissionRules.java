package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.Feature;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A: who is let in, and in which order. */
@Tag("A")
abstract class AdmissionRules extends ConformanceRules {

    @Test
    @DisplayName("A1: a mutex has one holder, whoever asks")
    void mutexHasOneHolder() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        bob.mutex("ledger").tried().expectRefused(Refusal.TAKEN);
        alice.mutex("ledger").tried().expectRefused(Refusal.TAKEN);
        Probe waits = bob.mutex("ledger").expectQueued();
        waits.expectWaiting();
        holder.expectHeld();
    }

    @Test
    @DisplayName("A1: elections and tasks admit one, as a mutex does")
    void otherKindsOfCapacityOne() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        for (Kind kind : List.of(Kind.ELECTION, Kind.TASK)) {
            ResourceSpec spec = new ResourceSpec(kind, 1, Order.FAIR);
            Probe holder = alice.probe("one-" + kind, spec, 1).expectGranted();
            bob.probe("one-" + kind, spec, 1).tried().expectRefused(Refusal.TAKEN);
            holder.release();
            bob.probe("one-" + kind, spec, 1).tried().expectGranted();
        }
    }

    @Test
    @DisplayName("A1: resources don't stand in each other's way")
    void resourcesAreIndependent() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        alice.mutex("a").expectGranted();
        bob.mutex("b").tried().expectGranted();
        bob.mutex("a/b").tried().expectGranted();
    }

    @Test
    @DisplayName("A2: readers share, and a writer is alone")
    void readersShareAndWritersExclude() {
        fixture.needsAdmission(Admission.SHARED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe one = alice.reader("catalogue").expectGranted();
        Probe two = bob.reader("catalogue").expectGranted();
        bob.writer("catalogue").tried().expectRefused(Refusal.TAKEN);
        one.release();
        bob.writer("catalogue").tried().expectRefused(Refusal.TAKEN);
        two.release();
        Probe writes = bob.writer("catalogue").expectGranted();
        alice.reader("catalogue").tried().expectRefused(Refusal.TAKEN);
        alice.writer("catalogue").tried().expectRefused(Refusal.TAKEN);
        writes.release();
        alice.reader("catalogue").tried().expectGranted();
    }

    @Test
    @DisplayName("A2: a waiting writer goes before the readers that come after it")
    void waitingWriterBlocksLaterReaders() {
        fixture.needsAdmission(Admission.SHARED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe reads = alice.reader("catalogue").expectGranted();
        Probe writer = bob.writer("catalogue").expectQueued();
        Probe later = alice.reader("catalogue").expectQueued();
        alice.reader("catalogue").tried().expectRefused(Refusal.TAKEN);
        reads.release();
        writer.expectHeld();
        later.expectWaiting();
        writer.release();
        later.expectHeld();
    }

    @Test
    @DisplayName("A3: permits are given as long as the weights fit")
    void permitsAreCounted() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe two = alice.permits("gpu", 2, 4).expectGranted();
        Probe one = bob.permits("gpu", 1, 4).expectGranted();
        bob.permits("gpu", 2, 4).tried().expectRefused(Refusal.TAKEN);
        bob.permits("gpu", 1, 4).tried().expectGranted();
        alice.permits("gpu", 1, 4).tried().expectRefused(Refusal.TAKEN);
        two.release();
        alice.permits("gpu", 2, 4).tried().expectGranted();
        one.release();
        alice.permits("gpu", 1, 4).tried().expectGranted();
        alice.permits("gpu", 1, 4).tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("A3: sums of large weights don't overflow")
    void weightsAreSummedInSixtyFourBits() {
        fixture.needsAdmission(Admission.COUNTED);
        int half = Integer.MAX_VALUE / 2 + 1;
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        alice.permits("wide", half, Integer.MAX_VALUE).expectGranted();
        bob.permits("wide", half, Integer.MAX_VALUE).tried().expectRefused(Refusal.TAKEN);
        bob.permits("wide", Integer.MAX_VALUE, Integer.MAX_VALUE).tried().expectRefused(Refusal.TAKEN);
        bob.permits("wide", half - 1, Integer.MAX_VALUE).tried().expectGranted();
        bob.permits("wide", 1, Integer.MAX_VALUE).tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("A4: waiters are admitted in the order in which they queued")
    void queueIsFirstInFirstOut() {
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        List<Probe> queue = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            queue.add((i % 3 == 0 ? alice : bob).mutex("ledger").expectQueued());
        }
        for (Probe next : queue) {
            holder.release();
            next.expectHeld();
            holder = next;
        }
        for (Probe gone : queue.subList(0, queue.size() - 1)) {
            gone.expectGone();
        }
    }

    @Test
    @DisplayName("A4: who comes now does not go past those who wait, even when there is room")
    void newcomerDoesNotOvertake() {
        fixture.needsAdmission(Admission.COUNTED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.permits("gpu", 3, 4).expectGranted();
        Probe waits = bob.permits("gpu", 2, 4).expectQueued();
        alice.permits("gpu", 1, 4).tried().expectRefused(Refusal.TAKEN);
        Probe behind = alice.permits("gpu", 1, 4).expectQueued();
        waits.withdraw();
        behind.expectHeld();
        holder.expectHeld();
    }

    @Test
    @DisplayName("A5: a heavy claim at the head of the queue keeps those behind it waiting")
    void heavyHeadBlocks() {
        fixture.needsAdmission(Admission.COUNTED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe two = alice.permits("gpu", 2, 4).expectGranted();
        Probe other = alice.permits("gpu", 2, 4).expectGranted();
        Probe heavy = bob.permits("gpu", 4, 4).expectQueued();
        Probe light = bob.permits("gpu", 1, 4).expectQueued();
        two.release();
        heavy.expectWaiting();
        light.expectWaiting();
        other.release();
        heavy.expectHeld();
        light.expectWaiting();
        heavy.release();
        light.expectHeld();
    }

    @Test
    @DisplayName("A6: all waiters that fit are admitted in one step")
    void allThatFitAreAdmitted() {
        fixture.needsAdmission(Admission.SHARED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe writes = alice.writer("catalogue").expectGranted();
        List<Probe> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(bob.reader("catalogue").expectQueued());
        }
        Probe next = bob.writer("catalogue").expectQueued();
        Probe last = alice.reader("catalogue").expectQueued();
        writes.release();
        readers.forEach(Probe::expectHeld);
        next.expectWaiting();
        last.expectWaiting();
        readers.forEach(Probe::release);
        next.expectHeld();
        last.expectWaiting();
    }

    @Test
    @DisplayName("A7: on a barging resource who comes may go past the queue, but never beyond the capacity")
    void bargingStaysWithinTheCapacity() {
        fixture.needsAdmission(Admission.COUNTED);
        ConformanceFixture.needs(fixture.traits.has(Feature.BARGING), "the store has no barging resources");
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.permits("gpu", 3, 4).with(Order.BARGING).expectGranted();
        Probe waits = bob.permits("gpu", 2, 4).with(Order.BARGING).expectQueued();
        Probe barges = alice.permits("gpu", 1, 4).with(Order.BARGING).tried();
        Reply answer = ConformanceFixture.send(fixture.first, barges.command());
        assertThat(answer).isInstanceOfAny(Reply.Granted.class, Reply.Refused.class);
        alice.permits("gpu", 2, 4).with(Order.BARGING).tried().expectRefused(Refusal.TAKEN);
        waits.expectWaiting();
        holder.release();
        waits.expectHeld();
        int heldNow = fixture.info(holder.ref().resource()).holders().stream()
                .mapToInt(ResourceInfo.Party::weight)
                .sum();
        assertThat(heldNow).isEqualTo(answer instanceof Reply.Granted ? 3 : 2);
    }

    @Test
    @DisplayName("A8: a claim that declares another kind is refused while somebody holds")
    void otherKindIsRefused() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe election = bob.probe("ledger", new ResourceSpec(Kind.ELECTION, 1, Order.FAIR), 1);
        election.expectRefused(Refusal.MISMATCH);
        election.tried().expectRefused(Refusal.MISMATCH);
        election.expectGone();
        if (fixture.traits.admissions().contains(Admission.COUNTED)) {
            bob.permits("ledger", 1, 2).expectRefused(Refusal.MISMATCH);
        }
        holder.expectHeld();
        holder.release();
        election.expectGranted();
        alice.mutex("ledger").expectRefused(Refusal.MISMATCH);
    }

    @Test
    @DisplayName("A8: a claim that declares another capacity is refused while somebody holds or waits")
    void otherCapacityIsRefused() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.permits("gpu", 2, 2).expectGranted();
        Probe waits = bob.permits("gpu", 1, 2).expectQueued();
        alice.permits("gpu", 1, 4).expectRefused(Refusal.MISMATCH);
        holder.release();
        waits.expectHeld();
        alice.permits("gpu", 1, 4).expectRefused(Refusal.MISMATCH);
        waits.release();
        alice.permits("gpu", 1, 4).expectGranted();
    }

    @Test
    @DisplayName("A8: a claim that declares another order is refused while somebody holds")
    void otherOrderIsRefused() {
        ConformanceFixture.needs(fixture.traits.has(Feature.BARGING), "the store has no barging resources");
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        alice.mutex("ledger").with(Order.BARGING).expectRefused(Refusal.MISMATCH);
        holder.release();
        alice.mutex("ledger").with(Order.BARGING).expectGranted();
        alice.mutex("ledger").expectRefused(Refusal.MISMATCH);
    }

    @Test
    @DisplayName("A8: holders whose session has ended bind nobody to what they declared")
    void deadHoldersDeclareNothing() {
        TestClient alice = fixture.shortLived("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.until("the session has ended", holder::isOver);
        bob.probe("ledger", new ResourceSpec(Kind.TASK, 1, Order.FAIR), 1)
                .tried()
                .expectGranted();
    }

    @Test
    @DisplayName("A9: dead waiters are passed over")
    void deadWaitersArePassedOver() {
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe dead = dies.mutex("ledger").expectQueued();
        Probe lives = bob.mutex("ledger").expectQueued();
        fixture.until("the session has ended", dead::isOver);
        holder.release();
        lives.expectHeld();
        dead.expectGone();
    }

    @Test
    @DisplayName("A9: a dead claim at the head of the queue keeps nobody out")
    void deadHeadBlocksNobody() {
        fixture.needsAdmission(Admission.COUNTED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        alice.permits("gpu", 2, 4).expectGranted();
        dies.permits("gpu", 4, 4).expectQueued();
        Probe behind = bob.permits("gpu", 2, 4).expectQueued();
        behind.expectWaiting();
        fixture.until("the claim behind the dead one holds", behind::holds);
    }

    @Test
    @DisplayName("A10: a claim that is only tried leaves nothing behind when it is refused")
    void refusedTryLeavesNothing() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe tried = bob.mutex("ledger").tried();
        for (int i = 0; i < 3; i++) {
            tried.expectRefused(Refusal.TAKEN);
        }
        tried.expectGone();
        assertThat(bob.waiting()).isEmpty();
        holder.release();
        tried.expectGone();
        tried.expectGranted();
    }

    @Test
    @DisplayName("A11: more capacity admits waiters, less ends waiting claims that can never fit, and grants stay")
    void resizing() {
        fixture.needsAdmission(Admission.COUNTED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe two = alice.permits("gpu", 2, 4).expectGranted();
        Probe one = alice.permits("gpu", 2, 4).expectGranted();
        Probe heavy = bob.permits("gpu", 4, 4).expectQueued();
        Probe light = bob.permits("gpu", 2, 4).expectQueued();
        ResourceName gpu = two.ref().resource();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 3), Reply.Done.class);
        heavy.expectGone();
        heavy.expectRefused(Refusal.TOO_HEAVY);
        heavy.expectGone();
        two.expectHeld();
        one.expectHeld();
        light.expectWaiting();
        bob.permits("gpu", 1, 3).expectRefused(Refusal.MISMATCH);
        assertThat(fixture.info(gpu).spec().capacity()).isEqualTo(3);
        assertThat(fixture.info(gpu).declared()).isEqualTo(light.spec());
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 6), Reply.Done.class);
        light.expectHeld();
        alice.permits("gpu", 1, 4).tried().expectRefused(Refusal.TAKEN);
        bob.permits("gpu", 4, 4).expectQueued();
    }

    @Test
    @DisplayName("A11: an ended waiter makes way for those behind it when the capacity shrinks")
    void resizingAdmitsBehindTheRefused() {
        fixture.needsAdmission(Admission.COUNTED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.permits("gpu", 1, 4).expectGranted();
        Probe heavy = alice.permits("gpu", 4, 4).expectQueued();
        Probe behind = alice.permits("gpu", 2, 4).expectQueued();
        alice.send(
                new Command.Resize(
                        holder.ref().resource(), alice.sessionOf(holder.ref().resource()), 0, 3),
                Reply.Done.class);
        heavy.expectGone();
        behind.expectHeld();
        Probe owner = alice.permits("cpu", 4, 4).expectGranted();
        Probe whole = alice.permits("cpu", 3, 4).expectQueued();
        ResourceName cpu = owner.ref().resource();
        alice.send(new Command.Resize(cpu, alice.sessionOf(cpu), 0, 3), Reply.Done.class);
        whole.expectWaiting();
    }

    @Test
    @DisplayName("A11: a changed capacity is forgotten with the last hold, and only semaphores have one")
    void resizingIsForTheUse() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        Probe holder = alice.permits("gpu", 1, 1).expectGranted();
        ResourceName gpu = holder.ref().resource();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 2), Reply.Done.class);
        holder.release();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 2), Reply.Absent.class);
        alice.permits("gpu", 1, 1).expectGranted();
        alice.permits("gpu", 1, 1).tried().expectRefused(Refusal.TAKEN);
        Probe mutex = alice.mutex("ledger").expectGranted();
        Reply.Refused refused = alice.send(
                new Command.Resize(
                        mutex.ref().resource(), alice.sessionOf(mutex.ref().resource()), 0, 2),
                Reply.Refused.class);
        assertThat(refused.reason()).isEqualTo(Refusal.MISMATCH);
        fixture.other("bob").mutex("ledger").tried().expectRefused(Refusal.TAKEN);
    }
}
