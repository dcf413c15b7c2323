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
abstract class LeaseRules extends Harness {

    private static final Duration INSTANT = Duration.ofMillis(1);
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    @DisplayName("L1: a bounded grant ends after its own length, while its session lives")
    void boundedEndsByItself() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        // Ready before the lease begins: without a clock to move, it runs.
        Client bob = bench.other("bob");
        Probe held = alice.mutex("ledger").with(Lease.bounded(bench.shortTtl())).expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        bench.until("the next claim holds", next::holds);
        held.expectGone();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
        alice.send(new Command.Release(held.ref()), Reply.Absent.class);
        next.expectHeld();
    }

    @Test
    @DisplayName("L1: a bounded grant lasts for its whole length, and no longer")
    void boundedLastsForItsLength() {
        bench.needsFixedLeases();
        Probe held = bench.client("alice")
                .mutex("ledger")
                .with(Lease.bounded(Duration.ofSeconds(7)))
                .expectGranted();
        bench.pass(Duration.ofSeconds(7).minus(INSTANT));
        held.expectHeld();
        bench.pass(INSTANT);
        held.expectGone();
    }

    @Test
    @DisplayName("L1: a keep-alive does not renew a bounded grant")
    void keepAliveDoesNotRenewBounded() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").with(Lease.bounded(bench.shortTtl())).expectGranted();
        bench.until("the bounded grant has ended", () -> {
            assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
            return held.isOver();
        });
    }

    @Test
    @DisplayName("L2: a bounded grant ends with its session if that is first")
    void boundedEndsWithItsSession() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Probe closed = alice.mutex("closed").with(Lease.bounded(HOUR)).expectGranted();
        alice.close();
        closed.expectGone();
        bench.other("bob").mutex("closed").tried().expectGranted();
        Client dies = bench.shortLived("dies");
        Probe expired = dies.mutex("expired").with(Lease.bounded(HOUR)).expectGranted();
        bench.until("the session has ended", expired::isOver);
        bench.other("bob").mutex("expired").tried().expectGranted();
    }

    @Test
    @DisplayName("L3: a detached grant outlives its session, closed or expired, once it is picked up")
    void detachedOutlivesItsSession() {
        bench.needsDetached();
        Client alice = bench.client("alice");
        Client dies = bench.shortLived("dies");
        Client bob = bench.other("bob");
        Probe closed = alice.mutex("closed").with(Lease.detached(HOUR)).expectGranted();
        Probe expired = dies.mutex("expired").with(Lease.detached(HOUR)).expectGranted();
        Probe witness = dies.mutex("witness").expectGranted();
        alice.close();
        bench.until("the session has ended", witness::isOver);
        assertThat(closed.stateThrough(bob.store)).isInstanceOf(Reply.Granted.class);
        assertThat(expired.stateThrough(bob.store)).isInstanceOf(Reply.Granted.class);
        bob.mutex("closed").tried().expectRefused(Refusal.TAKEN);
        bob.mutex("expired").tried().expectRefused(Refusal.TAKEN);
        assertThat(alice.held()).containsExactly(closed.ref());
    }

    @Test
    @DisplayName("L3: a detached grant that came from the queue outlives its session once it is polled")
    void detachedFromTheQueueOutlivesItsSession() {
        bench.needsDetached();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
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
        bench.needsDetached();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Probe held =
                alice.mutex("ledger").with(Lease.detached(bench.shortTtl())).expectGranted();
        alice.close();
        Probe next = bob.mutex("ledger").expectQueued();
        bench.until("the next claim holds", next::holds);
        held.expectGone();
        assertThat(alice.held()).isEmpty();
    }

    @Test
    @DisplayName("L4: a detached claim that waits, or was granted and never picked up, ends with its session")
    void detachedNeedsItsSessionUntilPickedUp() {
        bench.needsDetached();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Client carol = bench.other("carol");
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
        assertThat(alice.held()).isEmpty();
    }

    @Test
    @DisplayName("L5: a fixed lease begins when its claimant first hears of the grant, and only then")
    void leaseBeginsAtPickUp() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Client bob = bench.other("bob");
        Duration length = Duration.ofSeconds(10);
        Probe before = bob.mutex("ledger").expectGranted();
        Probe bounded = alice.mutex("ledger").with(Lease.bounded(length)).expectQueued();
        bench.pass(Duration.ofSeconds(60));
        before.release();
        bench.pass(Duration.ofSeconds(60));
        assertThat(bounded.grant().remaining()).contains(length);
        bench.pass(Duration.ofSeconds(6));
        assertThat(bounded.grant().remaining()).contains(Duration.ofSeconds(4));
        assertThat(bounded.granted().remaining()).contains(Duration.ofSeconds(4));
        bench.pass(Duration.ofSeconds(4));
        bounded.expectGone();
    }

    @Test
    @DisplayName(
            "L5: a fixed lease that is granted at once begins with the answer, and a repeat does not begin it again")
    void repeatDoesNotBeginTheLeaseAgain() {
        bench.needsFixedLeases();
        Duration length = Duration.ofSeconds(10);
        Probe bounded = bench.client("alice").mutex("ledger").with(Lease.bounded(length));
        assertThat(bounded.granted().remaining()).contains(length);
        bench.pass(Duration.ofSeconds(4));
        assertThat(bounded.granted().remaining()).contains(Duration.ofSeconds(6));
        bench.pass(Duration.ofSeconds(6));
        bounded.expectGone();
    }

    @Test
    @DisplayName("L6: what is left of a fixed lease is told with each grant, and of a session lease nothing")
    void remainingIsTold() {
        Client alice = bench.client("alice");
        Probe bySession = alice.mutex("by-session");
        assertThat(bySession.granted().remaining()).isEmpty();
        assertThat(bySession.grant().remaining()).isEmpty();
        bench.needsFixedLeases();
        Probe bounded = alice.mutex("bounded").with(Lease.bounded(HOUR));
        Duration told = bounded.granted().remaining().orElseThrow();
        assertThat(told).isPositive().isLessThanOrEqualTo(HOUR);
        assertThat(bounded.grant().remaining().orElseThrow()).isPositive().isLessThanOrEqualTo(told);
    }

    @Test
    @DisplayName("L7: an extension sets what is left, longer or shorter")
    void extensionSetsWhatIsLeft() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").with(Lease.bounded(bench.shortTtl())).expectGranted();
        Reply.Extended longer = held.extend(1, HOUR);
        assertThat(longer.seq()).isEqualTo(1);
        assertThat(longer.remaining()).isPositive().isLessThanOrEqualTo(HOUR).isGreaterThan(Duration.ofMinutes(50));
        assertThat(held.grant().remaining().orElseThrow()).isGreaterThan(Duration.ofMinutes(50));
        Reply.Extended shorter = held.extend(2, bench.shortTtl());
        assertThat(shorter.seq()).isEqualTo(2);
        assertThat(shorter.remaining()).isPositive().isLessThanOrEqualTo(bench.shortTtl());
        bench.until("the shortened grant has ended", held::isOver);
    }

    @Test
    @DisplayName("L7: an extension acts only if its number is above the last that acted")
    void lateExtensionsDoNothing() {
        bench.needsFixedLeases();
        Probe held =
                bench.client("alice").mutex("ledger").with(Lease.bounded(HOUR)).expectGranted();
        Duration two = Duration.ofHours(2);
        assertThat(held.extend(5, two).seq()).isEqualTo(5);
        for (long late : new long[] {5, 4, 1}) {
            Reply.Extended answer = held.extend(late, Duration.ofHours(9));
            assertThat(answer.seq()).isEqualTo(5);
            assertThat(answer.remaining()).isLessThanOrEqualTo(two);
            assertThat(held.grant().remaining().orElseThrow()).isLessThanOrEqualTo(two);
        }
        assertThat(held.extend(6, Duration.ofHours(3)).remaining()).isGreaterThan(two);
    }

    @Test
    @DisplayName("L8: an extension brings nothing back, and makes no fixed lease of a session's")
    void extensionNeverRevives() {
        bench.needsFixedLeases();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").with(Lease.bounded(bench.shortTtl())).expectGranted();
        bench.until("the grant has ended", held::isOver);
        alice.send(new Command.Extend(held.ref(), 1, HOUR), Reply.Absent.class);
        held.expectGone();
        Probe bySession = bench.other("bob").mutex("ledger").tried().expectGranted();
        alice.send(new Command.Extend(bySession.ref(), 1, bench.shortTtl()), Reply.Absent.class);
        Probe waits = alice.mutex("ledger").with(Lease.bounded(HOUR)).expectQueued();
        alice.send(new Command.Extend(waits.ref(), 1, HOUR), Reply.Absent.class);
        waits.expectWaiting();
    }

    @Test
    @DisplayName(
            "L9: a detached grant is polled, extended and released by its id, from any client and without a session")
    void detachedIsServedById() {
        bench.needsDetached();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").with(Lease.detached(HOUR)).expectGranted();
        alice.raiseEpoch();
        alice.close();
        assertThat(held.stateThrough(bench.second)).isInstanceOf(Reply.Granted.class);
        Reply.Extended extended =
                Bench.send(bench.second, new Command.Extend(held.ref(), 1, Duration.ofHours(3)), Reply.Extended.class);
        assertThat(extended.remaining()).isGreaterThan(HOUR);
        Bench.send(bench.second, new Command.Release(held.ref()), Reply.Released.class);
        held.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L9: a detached grant is withdrawn by its id after its session has ended")
    void detachedIsWithdrawnById() {
        bench.needsDetached();
        Client alice = bench.client("alice");
        Probe held = alice.mutex("ledger").with(Lease.detached(HOUR)).expectGranted();
        alice.close();
        Bench.send(bench.second, new Command.Withdraw(held.ref(), Command.Sending.FIRST), Reply.Done.class);
        held.expectGone();
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L10: a store that can't keep such a lease refuses the claim, and makes none")
    void unsupportedLeasesAreRefused() {
        boolean fixed = bench.traits.fixedLease() != FixedLease.NONE;
        Bench.needs(!fixed || !bench.traits.has(Feature.DETACHED_GRANTS), "the store keeps all kinds of leases");
        Client alice = bench.client("alice");
        Probe detached = alice.mutex("ledger").with(Lease.detached(HOUR));
        alice.send(detached.command(), Reply.Unsupported.class);
        detached.expectGone();
        if (!fixed) {
            Probe bounded = alice.mutex("ledger").with(Lease.bounded(HOUR));
            alice.send(bounded.command(), Reply.Unsupported.class);
            bounded.expectGone();
        }
        bench.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("L11: the longest lease that a command may carry is kept")
    void longestLease() {
        bench.needsFixedLeases();
        Probe held = bench.client("alice")
                .mutex("ledger")
                .with(Lease.bounded(Command.MAX_DURATION))
                .expectGranted();
        assertThat(held.grant().remaining().orElseThrow()).isGreaterThan(Command.MAX_DURATION.minus(HOUR));
        assertThat(held.extend(1, Command.MAX_DURATION).remaining()).isGreaterThan(Command.MAX_DURATION.minus(HOUR));
    }
}
