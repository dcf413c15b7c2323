package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.StoreTraits.FixedLease;
import dev.holdfast.spi.StoreTraits.TokenSource;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** R: how holds are given back or taken away. */
@Tag("R")
abstract class ReleaseRules extends Harness {

    @Test
    @DisplayName("R1: a release by a stranger changes nothing")
    void releaseByAStranger() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").numbered(5).expectGranted();
        Probe waits = bob.mutex("ledger").numbered(6).expectQueued();
        Probe sameNumber = bob.mutex("ledger").numbered(5);
        Probe otherNumber = alice.mutex("ledger").numbered(7);
        for (Probe stranger : List.of(sameNumber, otherNumber)) {
            stranger.client().send(new Command.Release(stranger.ref()), Reply.Absent.class);
            stranger.withdraw();
            stranger.client().send(new Command.ShrinkTo(stranger.ref(), 1), Reply.Absent.class);
        }
        held.expectHeld();
        waits.expectWaiting();
    }

    @Test
    @DisplayName("R1: a release that comes after the grant has expired does not touch the successor")
    void lateReleaseDoesNotTouchTheSuccessor() {
        Client dies = bench.shortLived("dies");
        Client bob = bench.other("bob");
        Probe held = dies.mutex("ledger").expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        bench.until("the next claim holds", next::holds);
        dies.send(new Command.Release(held.ref()), Reply.Absent.class);
        held.withdraw();
        next.expectHeld();
        bob.mutex("ledger").tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("R2: a claim that waits is not a grant: releasing it changes nothing")
    void releaseOfAWaiter() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        bob.send(new Command.Release(waits.ref()), Reply.Absent.class);
        waits.expectWaiting();
        held.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("R2: of several grants the named one is released")
    void oneOfSeveralIsReleased() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Probe one = alice.permits("gpu", 1, 3).expectGranted();
        Probe two = alice.permits("gpu", 1, 3).expectGranted();
        Probe three = alice.permits("gpu", 1, 3).expectGranted();
        two.release();
        one.expectHeld();
        two.expectGone();
        three.expectHeld();
        assertThat(alice.held()).containsExactlyInAnyOrder(one.ref(), three.ref());
    }

    @Test
    @DisplayName("R3: a forced release ends the grant that has the token, whoever asks")
    void forcedRelease() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").wanting(16).expectGranted();
        ResourceName ledger = held.ref().resource();
        TokenBlock block = held.block();
        Probe next = bob.mutex("ledger").expectQueued();
        bob.send(new Command.ForceRelease(ledger, block.first() - 1), Reply.Absent.class);
        if (bench.traits.tokenSource() != TokenSource.QUORUM) {
            // The members of a quorum have more tokens for a grant than they give together.
            bob.send(new Command.ForceRelease(ledger, block.last() + 1), Reply.Absent.class);
        }
        bob.send(new Command.ForceRelease(new ResourceName("other"), block.first()), Reply.Absent.class);
        held.expectHeld();
        long token = tokenOf(held, "alice", bob);
        bob.send(new Command.ForceRelease(ledger, token), Reply.Released.class);
        held.expectGone();
        next.expectHeld();
        bob.send(new Command.ForceRelease(ledger, token), Reply.Absent.class);
        alice.send(new Command.Release(held.ref()), Reply.Absent.class);
        next.expectHeld();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
    }

    /**
     * A token by which somebody may end a grant. Of a quorum, whose members have blocks of their own for it, one that
     * an inspection tells those who ask; the owner may have been given others.
     */
    private long tokenOf(Probe held, String owner, Client asks) {
        if (bench.traits.tokenSource() != TokenSource.QUORUM) {
            return held.block().last();
        }
        String name = held.ref().resource().value();
        return asks
                .send(new Command.Inspect(name, Optional.empty(), 10), Reply.Inspected.class)
                .resources()
                .get(0)
                .holders()
                .stream()
                .filter(party -> party.label().equals(owner))
                .findFirst()
                .flatMap(ResourceInfo.Party::tokens)
                .orElseThrow(() -> new AssertionError("An inspection tells no token of " + held.ref()))
                .last();
    }

    @Test
    @DisplayName("R3: a forced release ends one of several grants")
    void forcedReleaseOfOneOfSeveral() {
        bench.needsAdmission(Admission.SHARED);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe one = alice.reader("catalogue").wanting(4).expectGranted();
        Probe two = bob.reader("catalogue").wanting(4).expectGranted();
        Probe three = alice.reader("catalogue").wanting(4).expectGranted();
        alice.send(new Command.ForceRelease(two.ref().resource(), tokenOf(two, "bob", alice)), Reply.Released.class);
        one.expectHeld();
        two.expectGone();
        three.expectHeld();
    }

    @Test
    @DisplayName("R4: a shrink sets what is left: sent again it gives nothing more back, and it never grows")
    void shrinkingIsAbsolute() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held = alice.permits("gpu", 5, 6).expectGranted();
        for (int i = 0; i < 3; i++) {
            alice.send(new Command.ShrinkTo(held.ref(), 3), Reply.Done.class);
        }
        alice.send(new Command.ShrinkTo(held.ref(), 6), Reply.Done.class);
        bob.permits("gpu", 4, 6).tried().expectRefused(Refusal.TAKEN);
        Probe rest = bob.permits("gpu", 3, 6).tried().expectGranted();
        bob.permits("gpu", 1, 6).tried().expectRefused(Refusal.TAKEN);
        held.release();
        bob.permits("gpu", 4, 6).tried().expectRefused(Refusal.TAKEN);
        rest.release();
        bob.permits("gpu", 6, 6).tried().expectGranted();
    }

    @Test
    @DisplayName("R4: a write hold that shrinks to a read hold lets the readers in, and keeps writers out")
    void downgrading() {
        bench.needsAdmission(Admission.SHARED);
        bench.needsFifo();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe writes = alice.writer("catalogue").expectGranted();
        TokenBlock block = writes.block();
        Probe reader = bob.reader("catalogue").expectQueued();
        Probe writer = bob.writer("catalogue").expectQueued();
        alice.send(new Command.ShrinkTo(writes.ref(), 1), Reply.Done.class);
        reader.expectHeld();
        writer.expectWaiting();
        assertThat(writes.block()).isEqualTo(block);
        reader.release();
        writer.expectWaiting();
        writes.release();
        writer.expectHeld();
    }

    @Test
    @DisplayName("R4: only a grant can shrink")
    void shrinkingNeedsAGrant() {
        bench.needsAdmission(Admission.COUNTED);
        Client alice = bench.client("alice");
        Probe held = alice.permits("gpu", 4, 4).expectGranted();
        Probe waits = alice.permits("gpu", 3, 4).expectQueued();
        alice.send(new Command.ShrinkTo(waits.ref(), 1), Reply.Absent.class);
        held.release();
        alice.send(new Command.ShrinkTo(held.ref(), 1), Reply.Absent.class);
        waits.expectHeld();
        bench.other("bob").permits("gpu", 2, 4).tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("R5: however claims end, nothing that can be seen is left of them")
    void nothingIsLeftBehind() {
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Client dies = bench.shortLived("dies");
        List<Probe> ended = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Probe released = alice.mutex("released-" + i).expectGranted();
            Probe left = bob.mutex("released-" + i).expectQueued();
            left.withdraw();
            released.release();
            Probe forced = alice.mutex("forced-" + i).expectGranted();
            alice.send(
                    new Command.ForceRelease(
                            forced.ref().resource(), forced.block().first()),
                    Reply.Released.class);
            Probe expires = dies.mutex("expires-" + i).expectGranted();
            Probe tried = bob.mutex("expires-" + i).tried();
            tried.expectRefused(Refusal.TAKEN);
            ended.addAll(List.of(released, left, forced, expires, tried));
        }
        if (bench.traits.fixedLease() != FixedLease.NONE) {
            Probe bounded =
                    bob.mutex("bounded").with(Lease.bounded(bench.shortTtl())).expectGranted();
            bench.until("the bounded grant has ended", bounded::isOver);
            ended.add(bounded);
        }
        bench.until("all have ended", () -> ended.stream().allMatch(Probe::isOver));
        assertThat(bench.inspect("")).isEmpty();
        for (Client client : List.of(alice, bob, dies)) {
            assertThat(client.held()).isEmpty();
            assertThat(client.waiting()).isEmpty();
        }
    }

    @Test
    @DisplayName("R6: of a grant, a withdrawal is the release")
    void withdrawalOfAGrant() {
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").expectGranted();
        Probe next = bench.other("bob").mutex("ledger").expectQueued();
        held.withdraw();
        held.expectGone();
        next.expectHeld();
        assertThat(alice.held()).isEmpty();
    }
}
