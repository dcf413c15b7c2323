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
abstract class AdmissionRules extends Harness {

    @Test
    @DisplayName("A1: a mutex has one holder, whoever asks")
    void mutexHasOneHolder() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        bob.mutex("ledger").tried().isRefused(Refusal.TAKEN);
        alice.mutex("ledger").tried().isRefused(Refusal.TAKEN);
        Probe waits = bob.mutex("ledger").isQueued();
        waits.isWaiting();
        held.isHeld();
    }

    @Test
    @DisplayName("A1: elections and tasks admit one, as a mutex does")
    void otherKindsOfCapacityOne() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        for (Kind kind : List.of(Kind.ELECTION, Kind.TASK)) {
            ResourceSpec spec = new ResourceSpec(kind, 1, Order.FAIR);
            Probe held = alice.probe("one-" + kind, spec, 1).isGranted();
            bob.probe("one-" + kind, spec, 1).tried().isRefused(Refusal.TAKEN);
            held.release();
            bob.probe("one-" + kind, spec, 1).tried().isGranted();
        }
    }

    @Test
    @DisplayName("A1: resources don't stand in each other's way")
    void resourcesAreIndependent() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        alice.mutex("a").isGranted();
        bob.mutex("b").tried().isGranted();
        bob.mutex("a/b").tried().isGranted();
    }

    @Test
    @DisplayName("A2: readers share, and a writer is alone")
    void readersShareAndWritersExclude() {
        bench.needsAdmission(Admission.SHARED);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe one = alice.reader("catalogue").isGranted();
        Probe two = bob.reader("catalogue").isGranted();
        bob.writer("catalogue").tried().isRefused(Refusal.TAKEN);
        one.release();
        bob.writer("catalogue").tried().isRefused(Refusal.TAKEN);
        two.release();
        Probe writes = bob.writer("catalogue").isGranted();
        alice.reader("catalogue").tried().isRefused(Refusal.TAKEN);
        alice.writer("catalogue").tried().isRefused(Refusal.TAKEN);
        writes.release();
        alice.reader("catalogue").tried().isGranted();
    }

    @Test
    @DisplayName("A2: a waiting writer goes before the readers that come after it")
    void waitingWriterBlocksLaterReaders() {
        bench.needsAdmission(Admission.SHARED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe reads = alice.reader("catalogue").isGranted();
        Probe writer = bob.writer("catalogue").isQueued();
        Probe later = alice.reader("catalogue").isQueued();
        alice.reader("catalogue").tried().isRefused(Refusal.TAKEN);
        reads.release();
        writer.isHeld();
        later.isWaiting();
        writer.release();
        later.isHeld();
    }

    @Test
    @DisplayName("A3: permits are given as long as the weights fit")
    void permitsAreCounted() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe two = alice.permits("gpu", 2, 4).isGranted();
        Probe one = bob.permits("gpu", 1, 4).isGranted();
        bob.permits("gpu", 2, 4).tried().isRefused(Refusal.TAKEN);
        bob.permits("gpu", 1, 4).tried().isGranted();
        alice.permits("gpu", 1, 4).tried().isRefused(Refusal.TAKEN);
        two.release();
        alice.permits("gpu", 2, 4).tried().isGranted();
        one.release();
        alice.permits("gpu", 1, 4).tried().isGranted();
        alice.permits("gpu", 1, 4).tried().isRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("A3: sums of large weights don't overflow")
    void weightsAreSummedInSixtyFourBits() {
        bench.needsAdmission(Admission.COUNTED);
        int half = Integer.MAX_VALUE / 2 + 1;
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        alice.permits("wide", half, Integer.MAX_VALUE).isGranted();
        bob.permits("wide", half, Integer.MAX_VALUE).tried().isRefused(Refusal.TAKEN);
        bob.permits("wide", Integer.MAX_VALUE, Integer.MAX_VALUE).tried().isRefused(Refusal.TAKEN);
        bob.permits("wide", half - 1, Integer.MAX_VALUE).tried().isGranted();
        bob.permits("wide", 1, Integer.MAX_VALUE).tried().isRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("A4: waiters are admitted in the order in which they queued")
    void queueIsFirstInFirstOut() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe holder = alice.mutex("ledger").isGranted();
        List<Probe> queue = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            queue.add((i % 3 == 0 ? alice : bob).mutex("ledger").isQueued());
        }
        for (Probe next : queue) {
            holder.release();
            next.isHeld();
            holder = next;
        }
        for (Probe gone : queue.subList(0, queue.size() - 1)) {
            gone.isGone();
        }
    }

    @Test
    @DisplayName("A4: who comes now does not go past those who wait, even when there is room")
    void newcomerDoesNotOvertake() {
        bench.needsAdmission(Admission.COUNTED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.permits("gpu", 3, 4).isGranted();
        Probe waits = bob.permits("gpu", 2, 4).isQueued();
        alice.permits("gpu", 1, 4).tried().isRefused(Refusal.TAKEN);
        Probe behind = alice.permits("gpu", 1, 4).isQueued();
        waits.withdraw();
        behind.isHeld();
        held.isHeld();
    }

    @Test
    @DisplayName("A5: a heavy claim at the head of the queue keeps those behind it waiting")
    void heavyHeadBlocks() {
        bench.needsAdmission(Admission.COUNTED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe two = alice.permits("gpu", 2, 4).isGranted();
        Probe other = alice.permits("gpu", 2, 4).isGranted();
        Probe heavy = bob.permits("gpu", 4, 4).isQueued();
        Probe light = bob.permits("gpu", 1, 4).isQueued();
        two.release();
        heavy.isWaiting();
        light.isWaiting();
        other.release();
        heavy.isHeld();
        light.isWaiting();
        heavy.release();
        light.isHeld();
    }

    @Test
    @DisplayName("A6: all waiters that fit are admitted in one step")
    void allThatFitAreAdmitted() {
        bench.needsAdmission(Admission.SHARED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe writes = alice.writer("catalogue").isGranted();
        List<Probe> readers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            readers.add(bob.reader("catalogue").isQueued());
        }
        Probe next = bob.writer("catalogue").isQueued();
        Probe last = alice.reader("catalogue").isQueued();
        writes.release();
        readers.forEach(Probe::isHeld);
        next.isWaiting();
        last.isWaiting();
        readers.forEach(Probe::release);
        next.isHeld();
        last.isWaiting();
    }

    @Test
    @DisplayName("A7: on a barging resource who comes may go past the queue, but never beyond the capacity")
    void bargingStaysWithinTheCapacity() {
        bench.needsAdmission(Admission.COUNTED);
        Bench.needs(bench.traits.has(Feature.BARGING), "the store has no barging resources");
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.permits("gpu", 3, 4).with(Order.BARGING).isGranted();
        Probe waits = bob.permits("gpu", 2, 4).with(Order.BARGING).isQueued();
        Probe barges = alice.permits("gpu", 1, 4).with(Order.BARGING).tried();
        Reply answer = Bench.send(bench.first, barges.command());
        assertThat(answer).isInstanceOfAny(Reply.Granted.class, Reply.Refused.class);
        alice.permits("gpu", 2, 4).with(Order.BARGING).tried().isRefused(Refusal.TAKEN);
        waits.isWaiting();
        held.release();
        waits.isHeld();
        int heldNow = bench.info(held.ref().resource()).holders().stream()
                .mapToInt(ResourceInfo.Party::weight)
                .sum();
        assertThat(heldNow).isEqualTo(answer instanceof Reply.Granted ? 3 : 2);
    }

    @Test
    @DisplayName("A8: a claim that declares another kind is refused while somebody holds")
    void otherKindIsRefused() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe election = bob.probe("ledger", new ResourceSpec(Kind.ELECTION, 1, Order.FAIR), 1);
        election.isRefused(Refusal.MISMATCH);
        election.tried().isRefused(Refusal.MISMATCH);
        election.isGone();
        if (bench.traits.admissions().contains(Admission.COUNTED)) {
            bob.permits("ledger", 1, 2).isRefused(Refusal.MISMATCH);
        }
        held.isHeld();
        held.release();
        election.isGranted();
        alice.mutex("ledger").isRefused(Refusal.MISMATCH);
    }

    @Test
    @DisplayName("A8: a claim that declares another capacity is refused while somebody holds or waits")
    void otherCapacityIsRefused() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.permits("gpu", 2, 2).isGranted();
        Probe waits = bob.permits("gpu", 1, 2).isQueued();
        alice.permits("gpu", 1, 4).isRefused(Refusal.MISMATCH);
        held.release();
        waits.isHeld();
        alice.permits("gpu", 1, 4).isRefused(Refusal.MISMATCH);
        waits.release();
        alice.permits("gpu", 1, 4).isGranted();
    }

    @Test
    @DisplayName("A8: a claim that declares another order is refused while somebody holds")
    void otherOrderIsRefused() {
        Bench.needs(bench.traits.has(Feature.BARGING), "the store has no barging resources");
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").isGranted();
        alice.mutex("ledger").with(Order.BARGING).isRefused(Refusal.MISMATCH);
        held.release();
        alice.mutex("ledger").with(Order.BARGING).isGranted();
        alice.mutex("ledger").isRefused(Refusal.MISMATCH);
    }

    @Test
    @DisplayName("A8: holders whose session has ended bind nobody to what they declared")
    void deadHoldersDeclareNothing() {
        Client alice = bench.shortLived("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        bench.until("the session has ended", held::isOver);
        bob.probe("ledger", new ResourceSpec(Kind.TASK, 1, Order.FAIR), 1)
                .tried()
                .isGranted();
    }

    @Test
    @DisplayName("A9: dead waiters are passed over")
    void deadWaitersArePassedOver() {
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client dies = bench.shortLived("dies");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe dead = dies.mutex("ledger").isQueued();
        Probe lives = bob.mutex("ledger").isQueued();
        bench.until("the session has ended", dead::isOver);
        held.release();
        lives.isHeld();
        dead.isGone();
    }

    @Test
    @DisplayName("A9: a dead claim at the head of the queue keeps nobody out")
    void deadHeadBlocksNobody() {
        bench.needsAdmission(Admission.COUNTED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client dies = bench.shortLived("dies");
        Client bob = bench.other("bob");
        alice.permits("gpu", 2, 4).isGranted();
        dies.permits("gpu", 4, 4).isQueued();
        Probe behind = bob.permits("gpu", 2, 4).isQueued();
        behind.isWaiting();
        bench.until("the claim behind the dead one holds", behind::holds);
    }

    @Test
    @DisplayName("A10: a claim that is only tried leaves nothing behind when it is refused")
    void refusedTryLeavesNothing() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").isGranted();
        Probe tried = bob.mutex("ledger").tried();
        for (int i = 0; i < 3; i++) {
            tried.isRefused(Refusal.TAKEN);
        }
        tried.isGone();
        assertThat(bob.waiting()).isEmpty();
        held.release();
        tried.isGone();
        tried.isGranted();
    }

    @Test
    @DisplayName("A11: more capacity admits waiters, less ends waiting claims that can never fit, and grants stay")
    void resizing() {
        bench.needsAdmission(Admission.COUNTED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe two = alice.permits("gpu", 2, 4).isGranted();
        Probe one = alice.permits("gpu", 2, 4).isGranted();
        Probe heavy = bob.permits("gpu", 4, 4).isQueued();
        Probe light = bob.permits("gpu", 2, 4).isQueued();
        ResourceName gpu = two.ref().resource();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 3), Reply.Done.class);
        heavy.isGone();
        heavy.isRefused(Refusal.TOO_HEAVY);
        heavy.isGone();
        two.isHeld();
        one.isHeld();
        light.isWaiting();
        bob.permits("gpu", 1, 3).isRefused(Refusal.MISMATCH);
        assertThat(bench.info(gpu).spec().capacity()).isEqualTo(3);
        assertThat(bench.info(gpu).declared()).isEqualTo(light.spec());
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 6), Reply.Done.class);
        light.isHeld();
        alice.permits("gpu", 1, 4).tried().isRefused(Refusal.TAKEN);
        bob.permits("gpu", 4, 4).isQueued();
    }

    @Test
    @DisplayName("A11: an ended waiter makes way for those behind it when the capacity shrinks")
    void resizingAdmitsBehindTheRefused() {
        bench.needsAdmission(Admission.COUNTED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Probe held = alice.permits("gpu", 1, 4).isGranted();
        Probe heavy = alice.permits("gpu", 4, 4).isQueued();
        Probe behind = alice.permits("gpu", 2, 4).isQueued();
        alice.send(
                new Command.Resize(
                        held.ref().resource(), alice.sessionOf(held.ref().resource()), 0, 3),
                Reply.Done.class);
        heavy.isGone();
        behind.isHeld();
    }

    @Test
    @DisplayName("A11: a changed capacity is forgotten with the last hold, and only semaphores have one")
    void resizingIsForTheUse() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Probe held = alice.permits("gpu", 1, 1).isGranted();
        ResourceName gpu = held.ref().resource();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 2), Reply.Done.class);
        held.release();
        alice.send(new Command.Resize(gpu, alice.sessionOf(gpu), 0, 2), Reply.Absent.class);
        alice.permits("gpu", 1, 1).isGranted();
        alice.permits("gpu", 1, 1).tried().isRefused(Refusal.TAKEN);
        Probe mutex = alice.mutex("ledger").isGranted();
        Reply.Refused refused = alice.send(
                new Command.Resize(
                        mutex.ref().resource(), alice.sessionOf(mutex.ref().resource()), 0, 2),
                Reply.Refused.class);
        assertThat(refused.reason()).isEqualTo(Refusal.MISMATCH);
        bench.other("bob").mutex("ledger").tried().isRefused(Refusal.TAKEN);
    }
}
