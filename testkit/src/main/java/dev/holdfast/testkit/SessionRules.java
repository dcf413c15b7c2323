package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreTraits.Admission;
import dev.holdfast.spi.support.DurationFormat;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** S: how sessions begin, are kept alive and end. */
@Tag("S")
abstract class SessionRules extends ConformanceRules {

    /** The precision to which the end of a session is tested. */
    private static final Duration INSTANT = Duration.ofMillis(1);

    /** Enough to be past an end. */
    private static final Duration MOMENT = Duration.ofMillis(100);

    @Test
    @DisplayName("S1: every opening makes a session of its own, so a late duplicate brings nothing back")
    void everyOpeningMakesANewSession() {
        Command.OpenSession same = new Command.OpenSession(Duration.ofMinutes(1), "same");
        Set<SessionId> seen = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            SessionId id = ConformanceFixture.send(fixture.first, same, Reply.SessionOpened.class)
                    .session();
            assertThat(seen.add(id)).as("%s was given to two openings", id).isTrue();
            if (i % 2 == 1) {
                ConformanceFixture.send(fixture.first, new Command.CloseSession(id), Reply.Done.class);
            }
        }
    }

    @Test
    @DisplayName("S1: the ttl that is kept is told, and is at least the one that was asked for")
    void ttlIsAtLeastWhatWasAsked() {
        Duration longest = fixture.traits.maxSessionTtl();
        for (Duration asked : new Duration[] {fixture.shortTtl(), Duration.ofMillis(61_234), longest}) {
            if (asked.compareTo(longest) <= 0) {
                assertThat(TestClient.open(fixture.first, asked, "asks").ttl).isGreaterThanOrEqualTo(asked);
            }
        }
        Duration tiny = Duration.ofNanos(1);
        assertThat(TestClient.open(fixture.first, tiny, "asks").ttl)
                .isGreaterThanOrEqualTo(fixture.traits.minSessionTtl());
    }

    @Test
    @DisplayName("S2: a session lives until its ttl is over, and no longer")
    void sessionLivesForItsTtl() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.minus(INSTANT));
        holder.expectHeld();
        fixture.pass(INSTANT);
        holder.expectGone();
    }

    @Test
    @DisplayName("S2: a session that nobody keeps alive ends, and what it held goes to the next")
    void sessionEndsByItself() {
        TestClient alice = fixture.shortLived("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe next = bob.mutex("ledger").expectQueued();
        fixture.until("the next claim holds", next::holds);
        holder.expectGone();
    }

    @Test
    @DisplayName("S3: a keep-alive moves the deadline to a whole ttl from then")
    void keepAliveMovesTheDeadline() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.minus(INSTANT));
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
        fixture.pass(alice.ttl.minus(INSTANT));
        holder.expectHeld();
        fixture.pass(INSTANT);
        holder.expectGone();
    }

    @Test
    @DisplayName("S3: no other command keeps a session alive")
    void onlyKeepAliveMovesTheDeadline() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.dividedBy(2));
        holder.expectHeld();
        holder.expectGranted();
        alice.mutex("other").expectGranted().release();
        assertThat(alice.claims()).hasSize(1);
        fixture.pass(alice.ttl.dividedBy(2).plus(MOMENT));
        holder.expectGone();
    }

    @Test
    @DisplayName("S4: a keep-alive that comes too late does not bring the session back")
    void lateKeepAliveNeverRevives() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.until("the session has ended", holder::isOver);
        assertThat(alice.keepAlive(5)).isInstanceOf(Reply.SessionEnded.class);
        holder.expectGone();
        alice.mutex("other").expectEndedSession();
        fixture.other("bob").mutex("ledger").tried().expectGranted();
    }

    @Test
    @DisplayName("S4: a session that others were admitted past stays dead, also when the clock is stepped back")
    void passedOverSessionStaysDead() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.plus(MOMENT));
        Probe next = fixture.other("bob").mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.dividedBy(2).negated());
        assertThat(alice.keepAlive(1)).isInstanceOf(Reply.SessionEnded.class);
        holder.expectGone();
        alice.mutex("other").expectEndedSession();
        next.expectHeld();
    }

    @Test
    @DisplayName("S4: a closed session does not come back")
    void closedSessionStaysClosed() {
        TestClient alice = fixture.client("alice");
        alice.close();
        alice.close();
        assertThat(alice.keepAlive(3)).isInstanceOf(Reply.SessionEnded.class);
        alice.mutex("ledger").expectEndedSession();
    }

    @Test
    @DisplayName("S5: closing a session ends what it holds and what it waits for")
    void closingEndsHoldsAndWaits() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        TestClient carol = fixture.other("carol");
        Probe aliceHolds = alice.mutex("a").expectGranted();
        Probe bobHolds = bob.mutex("b").expectGranted();
        Probe bobWaits = bob.mutex("a").expectQueued();
        Probe aliceWaits = alice.mutex("b").expectQueued();
        Probe carolWaits = carol.mutex("b").expectQueued();
        alice.close();
        aliceHolds.expectGone();
        aliceWaits.expectGone();
        bobWaits.expectHeld();
        bobHolds.release();
        carolWaits.expectHeld();
    }

    @Test
    @DisplayName("S5: closing one session leaves the others alone")
    void closingIsForOneSession() {
        TestClient alice = fixture.client("alice");
        TestClient twin = fixture.client("alice");
        Probe kept = twin.mutex("ledger").expectGranted();
        alice.close();
        kept.expectHeld();
        assertThat(twin.keepAlive(0)).isInstanceOf(Reply.SessionAlive.class);
    }

    @Test
    @DisplayName("S6: a keep-alive raises the epoch, and one below it is stale and moves nothing")
    void staleKeepAliveMovesNothing() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        assertThat(alice.keepAlive(2)).isInstanceOf(Reply.SessionAlive.class);
        assertThat(alice.keepAlive(1)).isInstanceOf(Reply.Stale.class);
        assertThat(alice.keepAlive(2)).isInstanceOf(Reply.SessionAlive.class);
        fixture.pass(alice.ttl.dividedBy(2));
        assertThat(alice.keepAlive(1)).isInstanceOf(Reply.Stale.class);
        fixture.pass(alice.ttl.dividedBy(2).plus(MOMENT));
        holder.expectGone();
    }

    @Test
    @DisplayName(
            "S6: every command that carries an epoch is stale below the session's, and goes through at it and above")
    void epochsAreCheckedEverywhere() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        alice.raiseEpoch();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.Stale.class);
        alice.mutex("other").under(0).expectStale();
        assertThat(holder.yieldFor(alice.mutex("ledger").under(0))).isInstanceOf(Reply.Stale.class);
        alice.mutex("other").under(1).expectGranted();
        alice.mutex("third").under(2).expectGranted();
        alice.mutex("fourth").under(1).expectGranted();
    }

    @Test
    @DisplayName("S6: a stale Resize and a stale SetCount have no effect")
    void staleResizeAndSetCount() {
        TestClient alice = fixture.client("alice");
        alice.raiseEpoch();
        if (fixture.traits.admissions().contains(Admission.COUNTED)) {
            alice.permits("permits", 1, 1).expectGranted();
            Probe second = alice.permits("permits", 1, 1).expectQueued();
            ResourceName permits = second.ref().resource();
            alice.send(new Command.Resize(permits, alice.sessionOf(permits), 0, 2), Reply.Stale.class);
            second.expectWaiting();
        }
        ConformanceFixture.needs(
                fixture.traits.admissions().contains(Admission.LATCH)
                        || fixture.traits.admissions().contains(Admission.COUNTED),
                "the store has neither permits nor latches");
        if (fixture.traits.admissions().contains(Admission.LATCH)) {
            ResourceName latch = new ResourceName("latch");
            alice.send(new Command.SetCount(latch, alice.sessionOf(latch), 0, 1, 3), Reply.Stale.class);
            assertThat(alice.send(new Command.CountDown(latch, 1, "x", 1), Reply.Count.class)
                            .generation())
                    .isZero();
        }
    }

    @Test
    @DisplayName("S7: a retired session keeps what it has, and nothing new can come of it")
    void retiredSessionKeepsWhatItHas() {
        TestClient alice = fixture.client("alice");
        TestClient bob = fixture.other("bob");
        Probe holder = alice.mutex("ledger").expectGranted();
        Probe yields = alice.mutex("yields").expectGranted();
        Probe waits = bob.mutex("ledger").expectQueued();
        alice.retire();
        alice.retire();
        holder.expectHeld();
        alice.mutex("other").under(1_000_000).expectStale();
        assertThat(alice.keepAlive(1_000_000)).isInstanceOf(Reply.Stale.class);
        holder.release();
        waits.expectHeld();
        assertThat(yields.yieldFor(alice.mutex("yields"))).isInstanceOf(Reply.Stale.class);
    }

    @Test
    @DisplayName("S7: retiring does not move the deadline, and an ended session can be retired")
    void retiringDoesNotMoveTheDeadline() {
        TestClient alice = fixture.shortLived("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        fixture.pass(alice.ttl.minus(INSTANT));
        alice.retire();
        holder.expectHeld();
        fixture.pass(MOMENT);
        holder.expectGone();
        alice.retire();
        holder.expectGone();
    }

    @Test
    @DisplayName("S8: what needs a live session says so when it has ended, whatever the epoch")
    void endedSessionIsNamedAsSuch() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        alice.raiseEpoch();
        alice.close();
        assertThat(alice.keepAlive(0)).isInstanceOf(Reply.SessionEnded.class);
        alice.mutex("other").under(0).expectEndedSession();
        alice.mutex("other").under(1).expectEndedSession();
        assertThat(holder.yieldFor(alice.mutex("ledger"))).isInstanceOf(Reply.SessionEnded.class);
        if (fixture.traits.admissions().contains(Admission.COUNTED)) {
            Probe permit = fixture.other("bob").permits("permits", 1, 1).expectGranted();
            alice.send(
                    new Command.Resize(
                            permit.ref().resource(),
                            alice.sessionOf(permit.ref().resource()),
                            1,
                            2),
                    Reply.SessionEnded.class);
        }
    }

    @Test
    @DisplayName("S8: a session that the store never opened has ended")
    void unknownSessionHasEnded() {
        TestClient alice = fixture.client("alice");
        SessionId unknown = new SessionId("z".repeat(40));
        ConformanceFixture.send(fixture.first, new Command.KeepAlive(unknown, 1), Reply.SessionEnded.class);
        ConformanceFixture.send(fixture.first, new Command.Retire(unknown), Reply.Done.class);
        ConformanceFixture.send(fixture.first, new Command.CloseSession(unknown), Reply.Done.class);
        Probe own = alice.mutex("ledger");
        Command.Acquire foreign = new Command.Acquire(
                new ClaimRef(own.ref().resource(), unknown, 1),
                0,
                Command.Sending.FIRST,
                own.spec(),
                1,
                Lease.SESSION,
                Command.Waiting.QUEUE,
                1);
        ConformanceFixture.send(fixture.first, foreign, Reply.SessionEnded.class);
        own.tried().expectGranted();
    }

    @Test
    @DisplayName("S9: ending claims needs neither a live session nor its present epoch")
    void endingNeedsNoEpoch() {
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("held").expectGranted();
        Probe withdrawn = alice.mutex("withdrawn").expectGranted();
        alice.raiseEpoch();
        holder.release();
        withdrawn.withdraw();
        withdrawn.expectGone();
        alice.close();
        ConformanceFixture.send(fixture.first, new Command.Release(holder.ref()), Reply.Absent.class);
        withdrawn.withdraw();
    }

    @Test
    @DisplayName("S10: a session can be used through any connection of the store")
    void sessionIsNotTiedToAConnection() {
        fixture.needsPortableSessions();
        TestClient alice = fixture.client("alice");
        Probe holder = alice.mutex("ledger").expectGranted();
        TestClient moved = alice.through(fixture.second);
        assertThat(moved.keepAlive(1)).isInstanceOf(Reply.SessionAlive.class);
        moved.mutex("ledger").under(1).tried().expectRefused(Refusal.TAKEN);
        ConformanceFixture.send(fixture.second, new Command.Release(holder.ref()), Reply.Released.class);
        holder.expectGone();
    }

    @Test
    @DisplayName("S11: a session longer than the store keeps any is refused, and says how long they may be")
    void tooLongASessionIsRefused() {
        Duration longest = fixture.traits.maxSessionTtl();
        ConformanceFixture.needs(longest.compareTo(Command.MAX_DURATION) < 0, "the store keeps sessions of any length");
        StoreException refusal = ConformanceFixture.failure(
                fixture.first, new Command.OpenSession(longest.plusMillis(1), "asks for too much"));
        assertThat(refusal.reason()).isEqualTo(StoreException.Reason.DENIED);
        assertThat(refusal.effect()).isEqualTo(StoreException.Effect.NONE);
        assertThat(refusal).hasMessageContaining(DurationFormat.format(longest));
    }
}
