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

/** R: how holds are released or revoked. */
@Tag("R")
abstract class ReleaseRules extends ConformanceRules {

    @Test
    @DisplayName("R1: a release by a stranger changes nothing")
    void releaseByAStranger() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").numbered(5).expectGranted();
        Probe waits = bob.mutex("ledger").numbered(6).expectQueued();
        Probe sameNumber = bob.mutex("ledger").numbered(5);
        Probe otherNumber = alice.mutex("ledger").numbered(7);
        for (Probe stranger : List.of(sameNumber, otherNumber)) {
            stranger.client().send(new Command.Release(stranger.ref()), Reply.Absent.class);
            stranger.withdraw();
            stranger.client().send(new Command.ShrinkTo(stranger.ref(), 1), Reply.Absent.class);
        }
        holder.expectHeld();
        waits.expectWaiting();
    }

    @Test
    @DisplayName("R1: a release that comes after the grant has expired does not touch the successor")
    void lateReleaseDoesNotTouchTheSuccessor() {
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        Probe holder = dies.mutex("ledger").expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        fixture.until("the next claim holds", next::holds);
        dies.send(new Command.Release(holder.ref()), Reply.Absent.class);
        holder.withdraw();
        next.expectHeld();
        bob.mutex("ledger").tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("R2: a claim that waits is not a grant: releasing it changes nothing")
    void releaseOfAWaiter() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        bob.send(new Command.Release(waits.ref()), Reply.Absent.class);
        waits.expectWaiting();
        holder.release();
        waits.expectHeld();
    }

    @Test
    @DisplayName("R2: of several grants the named one is released")
    void oneOfSeveralIsReleased() {
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        Probe one = alice.permits("gpu", 1, 3).expectGranted();
        Probe two = alice.permits("gpu", 1, 3).expectGranted();
        Probe three = alice.permits("gpu", 1, 3).expectGranted();
        two.release();
        one.expectHeld();
        two.expectGone();
        three.expectHeld();
        assertThat(alice.claims()).containsExactlyInAnyOrder(one.ref(), three.ref());
    }

    @Test
    @DisplayName("R3: a forced release ends the grant that has the token, whoever asks")
    void forcedRelease() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").wanting(16).expectGranted();
        ResourceName ledger = holder.ref().resource();
        TokenBlock block = holder.block();
        Probe next = bob.mutex("ledger").expectQueued();
        bob.send(new Command.ForceRelease(ledger, block.first() - 1), Reply.Absent.class);
        if (fixture.traits.tokenSource() != TokenSource.QUORUM) {
            // The members of a quorum have more tokens for a grant than they give together.
            bob.send(new Command.ForceRelease(ledger, block.last() + 1), Reply.Absent.class);
        }
        bob.send(new Command.ForceRelease(new ResourceName("other"), block.first()), Reply.Absent.class);
        holder.expectHeld();
        long token = tokenOf(holder, "alice", bob);
        bob.send(new Command.ForceRelease(ledger, token), Reply.Released.class);
        holder.expectGone();
        next.expectHeld();
        bob.send(new Command.ForceRelease(ledger, token), Reply.Absent.class);
        alice.send(new Command.Release(holder.ref()), Reply.Absent.class);
        next.expectHeld();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
    }

    /**
     * A token by which a grant can be released. In a quorum the members have different blocks, so it is the one that
     * an inspection shows; the owner may have others.
     */
    private long tokenOf(Probe holder, String owner, TestClient asks) {
        if (fixture.traits.tokenSource() != TokenSource.QUORUM) {
            return holder.block().last();
        }
        String name = holder.ref().resource().value();
        return asks
                .send(new Command.Inspect(name, Optional.empty(), 10), Reply.Inspected.class)
                .resources()
                .get(0)
                .holders()
                .stream()
                .filter(party -> party.label().equals(owner))
                .findFirst()
                .flatMap(ResourceInfo.Party::tokens)
                .orElseThrow(() -> new AssertionError("An inspection tells no token of " + holder.ref()))
                .last();
    }

    @Test
    @DisplayName("R3: a forced release ends one of several grants")
    void forcedReleaseOfOneOfSeveral() {
        fixture.needsAdmission(Admission.SHARED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
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
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.permits("gpu", 5, 6).expectGranted();
        for (int i = 0; i < 3; i++) {
            alice.send(new Command.ShrinkTo(holder.ref(), 3), Reply.Done.class);
        }
        alice.send(new Command.ShrinkTo(holder.ref(), 6), Reply.Done.class);
        bob.permits("gpu", 4, 6).tried().expectRefused(Refusal.TAKEN);
        Probe rest = bob.permits("gpu", 3, 6).tried().expectGranted();
        bob.permits("gpu", 1, 6).tried().expectRefused(Refusal.TAKEN);
        holder.release();
        bob.permits("gpu", 4, 6).tried().expectRefused(Refusal.TAKEN);
        rest.release();
        bob.permits("gpu", 6, 6).tried().expectGranted();
    }

    @Test
    @DisplayName("R4: a write hold that shrinks to a read hold lets the readers in, and keeps writers out")
    void downgrading() {
        fixture.needsAdmission(Admission.SHARED);
        fixture.needsFifo();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
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
        fixture.needsAdmission(Admission.COUNTED);
        TestClient alice = fixture.client("alice");
        Probe holder = alice.permits("gpu", 4, 4).expectGranted();
        Probe waits = alice.permits("gpu", 3, 4).expectQueued();
        alice.send(new Command.ShrinkTo(waits.ref(), 1), Reply.Absent.class);
        holder.release();
        alice.send(new Command.ShrinkTo(holder.ref(), 1), Reply.Absent.class);
        waits.expectHeld();
        fixture.other("bob").permits("gpu", 2, 4).tried().expectRefused(Refusal.TAKEN);
    }

    @Test
    @DisplayName("R5: however claims end, nothing that can be seen is left of them")
    void nothingIsLeftBehind() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        TestClient dies = fixture.shortLived("dies");
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
        if (fixture.traits.fixedLease() != FixedLease.NONE) {
            Probe bounded =
                    bob.mutex("bounded").with(Lease.bounded(fixture.shortTtl())).expectGranted();
            fixture.until("the bounded grant has ended", bounded::isOver);
            ended.add(bounded);
        }
        fixture.until("all have ended", () -> ended.stream().allMatch(Probe::isOver));
        assertThat(fixture.inspect("")).isEmpty();
        for (TestClient client : List.of(alice, bob, dies)) {
            assertThat(client.claims()).isEmpty();
            assertThat(client.waiting()).isEmpty();
        }
    }

    @Test
    @DisplayName("R6: of a grant, a withdrawal is the release")
    void withdrawalOfAGrant() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe next = fixture.other("bob").mutex("ledger").expectQueued();
        holder.withdraw();
        holder.expectGone();
        next.expectHeld();
        assertThat(alice.claims()).isEmpty();
    }
}
