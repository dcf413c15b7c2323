package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreTraits.Feature;
import dev.holdfast.spi.StoreTraits.FixedLease;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** L: leases that are not renewed. */
@Tag("L")
abstract class LeaseRules extends ConformanceRules {

    private static final Duration INSTANT = Duration.ofMillis(1);
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    @DisplayName("L1: a bounded grant ends after its own length, while its session lives")
    void boundedEndsByItself() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        // Ready before the lease begins: without a clock to move, it runs.
        TestClient bob = fixture.other("bob");
        Probe holder =
                alice.mutex("ledger").with(Lease.bounded(fixture.shortTtl())).expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        fixture.until("the next claim holds", next::holds);
        holder.expectGone();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
        alice.send(new Command.Release(holder.ref()), Reply.Absent.class);
        next.expectHeld();
    }

    @Test
    @DisplayName("L1: a bounded grant lasts for its whole length, and no longer")
    void boundedLastsForItsLength() {
        fixture.needsFixedLeases();
        Probe holder = fixture.client("alice")
                .mutex("ledger")
                .with(Lease.bounded(Duration.ofSeconds(7)))
                .expectGranted();
        fixture.pass(Duration.ofSeconds(7).minus(INSTANT));
        holder.expectHeld();
        fixture.pass(INSTANT);
        holder.expectGone();
    }

    @Test
    @DisplayName("L1: a keep-alive does not renew a bounded grant")
    void keepAliveDoesNotRenewBounded() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        Probe holder =
                alice.mutex("ledger").with(Lease.bounded(fixture.shortTtl())).expectGranted();
        fixture.until("the bounded grant has ended", () -> {
            assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
            return holder.isOver();
        });
    }

    @Test
    @DisplayName("L2: a bounded grant ends with its session if that is first")
    void boundedEndsWithItsSession() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        Probe closed = alice.mutex("closed").with(Lease.bounded(HOUR)).expectGranted();
        alice.close();
        closed.expectGone();
        fixture.other("bob").mutex("closed").tried().expectGranted();
        TestClient dies = fixture.shortLived("dies");
        Probe expired = dies.mutex("expired").with(Lease.bounded(HOUR)).expectGranted();
        fixture.until("the session has ended", expired::isOver);
        fixture.other("bob").mutex("expired").tried().expectGranted();
    }

    @Test
    @DisplayName("L3: a detached grant outlives its session, closed or expired, once it is picked up")
    void detachedOutlivesItsSession() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        TestClient dies = fixture.shortLived("dies");
        TestClient bob = fixture.other("bob");
        Probe closed = alice.mutex("closed").with(Lease.detached(HOUR)).expectGranted();
        Probe expired = dies.mutex("expired").with(Lease.detached(HOUR)).expectGranted();
        Probe witness = dies.mutex("witness").expectGranted();
        alice.close();
        fixture.until("the session has ended", witness::isOver);
        assertThat(closed.stateThrough(bob.store)).isInstanceOf(Reply.Granted.class);
        assertThat(expired.stateThrough(bob.store)).isInstanceOf(Reply.Granted.class);
        bob.mutex("closed").tried().expectRefused(Refusal.TAKEN);
        bob.mutex("expired").tried().expectRefused(Refusal.TAKEN);
        assertThat(alice.claims()).containsExactly(closed.ref());
    }

    @Test
    @DisplayName("L3: a detached grant that came from the queue outlives its session once it is polled")
    void detachedFromTheQueueOutlivesItsSession() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe before = bob.mutex("ledger").expectGranted();
        Probe detached = alice.mutex("ledger").with(Lease.detached(HOUR)).expectQueued();
        before.release();
        detached.expectHeld();
        alice.close();
        detached.expectHeld();
    }

    @Test
    @DisplayName("L3: a detached grant ends after its own length, with or without its session")
    void detachedEndsByItself() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder =
                alice.mutex("ledger").with(Lease.detached(fixture.shortTtl())).expectGranted();
        alice.close();
        Probe next = bob.mutex("ledger").expectQueued();
        fixture.until("the next claim holds", next::holds);
        holder.expectGone();
        assertThat(alice.claims()).isEmpty();
    }

    @Test
    @DisplayName("L4: a detached claim that waits, or was granted and never picked up, ends with its session")
    void detachedNeedsItsSessionUntilPickedUp() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        TestClient carol = fixture.other("carol");
        Probe first = bob.mutex("granted").expectGranted();
        Probe second = bob.mutex("waiting").expectGranted();
        alice.mutex("granted").with(Lease.detached(HOUR)).expectQueued();
        alice.mutex("waiting").with(Lease.detached(HOUR)).expectQueued();
        Probe afterGranted = carol.mutex("granted").expectQueued();
        Probe afterWaiting = carol.mutex("waiting").expectQueued();
        first.release();
        alice.close();
        afterGranted.expectHeld();
        second.release();
        afterWaiting.expectHeld();
        assertThat(alice.claims()).isEmpty();
    }

    @Test
    @DisplayName("L5: a fixed lease begins when its claimant first hears of the grant, and only then")
    void leaseBeginsAtPickUp() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Duration length = Duration.ofSeconds(10);
        Probe before = bob.mutex("ledger").expectGranted();
        Probe bounded = alice.mutex("ledger").with(Lease.bounded(length)).expectQueued();
        fixture.pass(Duration.ofSeconds(60));
        before.release();
        fixture.pass(Duration.ofSeconds(60));
        assertThat(bounded.grant().remaining()).contains(length);
        fixture.pass(Duration.ofSeconds(6));
        assertThat(bounded.grant().remaining()).contains(Duration.ofSeconds(4));
        assertThat(bounded.granted().remaining()).contains(Duration.ofSeconds(4));
        fixture.pass(Duration.ofSeconds(4));
        bounded.expectGone();
    }

    @Test
    @DisplayName(
            "L5: a fixed lease that is granted at once begins with the answer, and a repeat does not begin it again")
    void repeatDoesNotBeginTheLeaseAgain() {
        fixture.needsFixedLeases();
        Duration length = Duration.ofSeconds(10);
        Probe bounded = fixture.client("alice").mutex("ledger").with(Lease.bounded(length));
        assertThat(bounded.granted().remaining()).contains(length);
        fixture.pass(Duration.ofSeconds(4));
        assertThat(bounded.granted().remaining()).contains(Duration.ofSeconds(6));
        fixture.pass(Duration.ofSeconds(6));
        bounded.expectGone();
    }

    @Test
    @DisplayName("L6: what is left of a fixed lease is told with each grant, and of a session lease nothing")
    void remainingIsTold() {
        TestClient alice = fixture.client("alice");
        Probe bySession = alice.mutex("by-session");
        assertThat(bySession.granted().remaining()).isEmpty();
        assertThat(bySession.grant().remaining()).isEmpty();
        fixture.needsFixedLeases();
        Probe bounded = alice.mutex("bounded").with(Lease.bounded(HOUR));
        Duration remaining = bounded.granted().remaining().orElseThrow();
        assertThat(remaining).isPositive().isLessThanOrEqualTo(HOUR);
        assertThat(bounded.grant().remaining().orElseThrow()).isPositive().isLessThanOrEqualTo(remaining);
    }

    @Test
    @DisplayName("L7: an extension sets what is left, longer or shorter")
    void extensionSetsWhatIsLeft() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        Probe holder =
                alice.mutex("ledger").with(Lease.bounded(fixture.shortTtl())).expectGranted();
        Reply.Extended longer = holder.extend(1, HOUR);
        assertThat(longer.seq()).isEqualTo(1);
        assertThat(longer.remaining()).isPositive().isLessThanOrEqualTo(HOUR).isGreaterThan(Duration.ofMinutes(50));
        assertThat(holder.grant().remaining().orElseThrow()).isGreaterThan(Duration.ofMinutes(50));
        Reply.Extended shorter = holder.extend(2, fixture.shortTtl());
        assertThat(shorter.seq()).isEqualTo(2);
        assertThat(shorter.remaining()).isPositive().isLessThanOrEqualTo(fixture.shortTtl());
        fixture.until("the shortened grant has ended", holder::isOver);
    }

    @Test
    @DisplayName("L7: an extension acts only if its number is above the last that acted")
    void lateExtensionsDoNothing() {
        fixture.needsFixedLeases();
        Probe holder = fixture.client("alice")
                .mutex("ledger")
                .with(Lease.bounded(HOUR))
                .expectGranted();
        Duration two = Duration.ofHours(2);
        assertThat(holder.extend(5, two).seq()).isEqualTo(5);
        for (long late : new long[] {5, 4, 1}) {
            Reply.Extended answer = holder.extend(late, Duration.ofHours(9));
            assertThat(answer.seq()).isEqualTo(5);
            assertThat(answer.remaining()).isLessThanOrEqualTo(two);
            assertThat(holder.grant().remaining().orElseThrow()).isLessThanOrEqualTo(two);
        }
        assertThat(holder.extend(6, Duration.ofHours(3)).remaining()).isGreaterThan(two);
    }

    @Test
    @DisplayName("L8: an extension brings nothing back, and makes no fixed lease of a session's")
    void extensionNeverRevives() {
        fixture.needsFixedLeases();
        TestClient alice = fixture.client("alice");
        Probe holder =
                alice.mutex("ledger").with(Lease.bounded(fixture.shortTtl())).expectGranted();
        fixture.until("the grant has ended", holder::isOver);
        alice.send(new Command.Extend(holder.ref(), 1, HOUR), Reply.Absent.class);
        holder.expectGone();
        Probe bySession = fixture.other("bob").mutex("ledger").tried().expectGranted();
        alice.send(new Command.Extend(bySession.ref(), 1, fixture.shortTtl()), Reply.Absent.class);
        Probe waits = alice.mutex("ledger").with(Lease.bounded(HOUR)).expectQueued();
        alice.send(new Command.Extend(waits.ref(), 1, HOUR), Reply.Absent.class);
        waits.expectWaiting();
    }

    @Test
    @DisplayName(
            "L9: a detached grant is polled, extended and released by its id, from any client and without a session")
    void detachedIsServedById() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").with(Lease.detached(HOUR)).expectGranted();
        alice.raiseEpoch();
        alice.close();
        assertThat(holder.stateThrough(fixture.second)).isInstanceOf(Reply.Granted.class);
        Reply.Extended extended = ConformanceFixture.send(
                fixture.second, new Command.Extend(holder.ref(), 1, Duration.ofHours(3)), Reply.Extended.class);
        assertThat(extended.remaining()).isGreaterThan(HOUR);
        ConformanceFixture.send(fixture.second, new Command.Release(holder.ref()), Reply.Released.class);
        holder.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L9: a detached grant is withdrawn by its id after its session has ended")
    void detachedIsWithdrawnById() {
        fixture.needsDetached();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").with(Lease.detached(HOUR)).expectGranted();
        alice.close();
        ConformanceFixture.send(
                fixture.second, new Command.Withdraw(holder.ref(), Command.Sending.FIRST), Reply.Done.class);
        holder.expectGone();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L10: a store that can't keep such a lease refuses the claim, and makes none")
    void unsupportedLeasesAreRefused() {
        boolean fixed = fixture.traits.fixedLease() != FixedLease.NONE;
        ConformanceFixture.needs(
                !fixed || !fixture.traits.has(Feature.DETACHED_GRANTS), "the store keeps all kinds of leases");
        TestClient alice = fixture.client("alice");
        Probe detached = alice.mutex("ledger").with(Lease.detached(HOUR));
        alice.send(detached.command(), Reply.Unsupported.class);
        detached.expectGone();
        if (!fixed) {
            Probe bounded = alice.mutex("ledger").with(Lease.bounded(HOUR));
            alice.send(bounded.command(), Reply.Unsupported.class);
            bounded.expectGone();
        }
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L11: the longest lease that a command may carry is kept")
    void longestLease() {
        fixture.needsFixedLeases();
        Probe holder = fixture.client("alice")
                .mutex("ledger")
                .with(Lease.bounded(Command.MAX_DURATION))
                .expectGranted();
        assertThat(holder.grant().remaining().orElseThrow()).isGreaterThan(Command.MAX_DURATION.minus(HOUR));
        assertThat(holder.extend(1, Command.MAX_DURATION).remaining()).isGreaterThan(Command.MAX_DURATION.minus(HOUR));
    }
}
