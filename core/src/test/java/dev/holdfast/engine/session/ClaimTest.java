package dev.holdfast.engine.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.StoreException.Effect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A claim")
class ClaimTest {

    private static final long TTL = 100;

    private final Session session = new Session(new SessionId("s"), TTL, 1_000, 1_090, 0);
    private final Claim claim = claim(Lease.SESSION, null);

    private Claim claim(Lease lease, PassCoverage coverage) {
        return new Claim(null, 1, session, new Claim.Terms(lease, 3, Waiting.QUEUE, coverage, false), 1_000);
    }

    // ---- What is known of it

    @Test
    @DisplayName("is known by its session and its number in that session")
    void identity() {
        ResourceName name = new ResourceName("ledger");
        assertThat(claim.is(new ClaimRef(name, session.id, 1))).isTrue();
        assertThat(claim.is(new ClaimRef(name, session.id, 2))).isFalse();
        assertThat(claim.is(new ClaimRef(name, new SessionId("other"), 1))).isFalse();
    }

    @Test
    @DisplayName("queues at the store, or is tried once, as its terms say")
    void waiting() {
        assertThat(claim.waiting()).isEqualTo(Waiting.QUEUE);
        Claim tried = new Claim(null, 2, session, new Claim.Terms(Lease.SESSION, 1, Waiting.TRY, null, false), 1_000);
        assertThat(tried.waiting()).isEqualTo(Waiting.TRY);
    }

    @Test
    @DisplayName("is in one state at a time")
    void states() {
        assertThat(presentStates()).containsExactly(Claim.State.SENT);
        claim.queue();
        assertThat(presentStates()).containsExactly(Claim.State.QUEUED);
        claim.hold();
        assertThat(presentStates()).containsExactly(Claim.State.HELD);
        claim.beginYield();
        assertThat(presentStates()).containsExactly(Claim.State.YIELDING);
        assertThat(claim.isDead()).isFalse();
        claim.end();
        assertThat(presentStates()).isEmpty();
        assertThat(claim.isDead()).isTrue();
    }

    private List<Claim.State> presentStates() {
        List<Claim.State> states = new ArrayList<>();
        if (claim.isSent()) {
            states.add(Claim.State.SENT);
        }
        if (claim.isQueued()) {
            states.add(Claim.State.QUEUED);
        }
        if (claim.isHeld()) {
            states.add(Claim.State.HELD);
        }
        if (claim.isYielding()) {
            states.add(Claim.State.YIELDING);
        }
        return states;
    }

    @Test
    @DisplayName("says that it was annotated only from then on")
    void annotated() {
        assertThat(claim.isAnnotated()).isFalse();
        claim.noteAnnotated();
        assertThat(claim.isAnnotated()).isTrue();
    }

    @Test
    @DisplayName("without an answer ends with its outcome, although no request wants it")
    void killedBeforeItsOutcome() {
        assertThat(claim.isOutcomeKnown()).isFalse();
        claim.kill();
        assertThat(claim.isDead()).isTrue();
        assertThat(claim.state()).isEqualTo(Claim.State.SENT);

        claim.noteAnswer(1_010);
        assertThat(claim.wasAnswered()).isTrue();
        assertThat(claim.isOutcomeKnown()).isTrue();
        claim.kill();
        assertThat(claim.state()).isEqualTo(Claim.State.OVER);
    }

    @Test
    @DisplayName("that waits ends at once when no request wants it")
    void killedWhileQueued() {
        claim.queue();
        assertThat(claim.isQueued()).isTrue();
        assertThat(claim.isOutcomeKnown()).isTrue();
        claim.kill();
        assertThat(claim.state()).isEqualTo(Claim.State.OVER);
        claim.queue();
        assertThat(claim.isQueued()).isFalse();
    }

    @Test
    @DisplayName("was never made only if its single sending had no effect")
    void neverMade() {
        claim.beginSending(1_000);
        claim.noteFailure(Effect.NONE, 1_010);
        assertThat(claim.wasNeverMade()).isTrue();
        assertThat(claim.wasAnswered()).isFalse();

        claim.beginSending(1_020);
        assertThat(claim.wasNeverMade()).isFalse();
        claim.noteFailure(Effect.NONE, 1_030);
        assertThat(claim.sendings()).isEqualTo(2);
        assertThat(claim.wasNeverMade()).isFalse();

        Claim other = claim(Lease.SESSION, null);
        other.beginSending(1_000);
        other.noteFailure(Effect.UNKNOWN, 1_010);
        assertThat(other.wasNeverMade()).isFalse();
    }

    @Test
    @DisplayName("is quiet while no command about it was sent or answered")
    void quiet() {
        assertThat(claim.isUntouchedSince(1_000)).isFalse();
        assertThat(claim.isUntouchedSince(1_001)).isTrue();
        claim.beginSending(1_010);
        assertThat(claim.hasCommandInFlight()).isTrue();
        assertThat(claim.isUntouchedSince(1_010)).isFalse();
        claim.noteAnswer(1_020);
        assertThat(claim.hasCommandInFlight()).isFalse();
        assertThat(claim.isUntouchedSince(1_020)).isFalse();
        claim.beginSending(1_025);
        claim.noteFailure(Effect.UNKNOWN, 1_028);
        assertThat(claim.hasCommandInFlight()).isFalse();
        assertThat(claim.isUntouchedSince(1_028)).isFalse();
        claim.touch(1_030);
        assertThat(claim.isUntouchedSince(1_030)).isFalse();
        assertThat(claim.isUntouchedSince(1_031)).isTrue();
    }

    @Test
    @DisplayName("is settled once, and keeps less of its weight before the store knows")
    void settled() {
        assertThat(claim.isSettling()).isFalse();
        assertThat(claim.beginSettling()).isTrue();
        assertThat(claim.beginSettling()).isFalse();
        assertThat(claim.isSettling()).isTrue();
        claim.shrinkTo(1);
        assertThat(claim.weight()).isEqualTo(1);
    }

    @Test
    @DisplayName("notes a signal that has overtaken its first answer, once")
    void overtaken() {
        claim.noteSignal();
        assertThat(claim.takeOvertaken()).isTrue();
        assertThat(claim.takeOvertaken()).isFalse();
        claim.queue();
        claim.noteSignal();
        assertThat(claim.takeOvertaken()).isFalse();
        assertThat(claim.beginWaiting()).isTrue();
        assertThat(claim.beginWaiting()).isFalse();
    }

    @Test
    @DisplayName("is in doubt from a signal against it to an answer to a question that was asked after the newest")
    void revocations() {
        assertThat(claim.isRevocationPending()).isFalse();
        assertThat(claim.hasRevocationSignals()).isFalse();
        claim.settleRevocations(0);
        claim.revocationSignalled();
        long asked = claim.revocationSignals();
        claim.revocationSignalled();
        claim.settleRevocations(asked);
        assertThat(claim.isRevocationPending()).isTrue();
        claim.settleRevocations(claim.revocationSignals());
        claim.settleRevocations(asked);
        assertThat(claim.isRevocationPending()).isFalse();
        assertThat(claim.hasRevocationSignals()).isTrue();
    }

    @Test
    @DisplayName("covers the requests up to a number, more after a poll, and none once its batch has left")
    void covers() {
        assertThat(claim.covers(1)).isFalse();
        assertThat(claim.isCovering()).isFalse();
        PassCoverage coverage = new PassCoverage(5);
        Claim pass = claim(Lease.SESSION, coverage);
        assertThat(pass.covers(5)).isTrue();
        assertThat(pass.covers(6)).isFalse();
        assertThat(coverage.beginPoll()).isTrue();
        assertThat(coverage.beginPoll()).isFalse();
        assertThat(pass.isCovering()).isTrue();
        coverage.extendTo(8);
        coverage.extendTo(7);
        assertThat(pass.covers(8)).isTrue();
        assertThat(coverage.countFailure()).isZero();
        assertThat(coverage.countFailure()).isEqualTo(1);
        coverage.repeatPoll();
        assertThat(pass.isCovering()).isFalse();
        assertThat(coverage.countFailure()).isEqualTo(2);
        assertThat(coverage.beginPoll()).isTrue();
        coverage.endPoll();
        assertThat(coverage.countFailure()).isZero();
        pass.endBatch();
        assertThat(pass.covers(1)).isFalse();
    }

    // ---- Its leases

    @Test
    @DisplayName("with its session's lease lasts as long as the session")
    void sessionLease() {
        assertThat(claim.deadline()).isEqualTo(1_090);
        assertThat(claim.leaseNanos()).isEqualTo(TTL);
        assertThat(claim.isDetached()).isFalse();
        assertThat(claim.outlivingLease()).isNull();
        session.end(Session.State.ENDED);
        assertThat(claim.hasEndedAtStore(1_001)).isTrue();
    }

    @Test
    @DisplayName("with a bounded lease ends with that or with its session, whichever is first")
    void boundedLease() {
        Claim bounded = claim(Lease.bounded(Duration.ofNanos(80)), null);
        bounded.fixedLease.endAt(1_080);
        assertThat(bounded.deadline()).isEqualTo(1_080);
        assertThat(bounded.leaseNanos()).isEqualTo(80);
        bounded.hold();
        bounded.fixedLease.endAt(1_100);
        assertThat(bounded.deadline()).isEqualTo(1_090);
        assertThat(claim(Lease.bounded(Duration.ofNanos(200)), null).leaseNanos())
                .isEqualTo(TTL);

        assertThat(bounded.hasEndedAtStore(1_120)).isFalse();
        assertThat(bounded.hasEndedAtStore(1_121)).isTrue();
        assertThat(bounded.outlivingLease()).isNull();
    }

    @Test
    @DisplayName("with a detached lease depends on its session until it is granted, and not afterwards")
    void detachedLease() {
        Claim detached = claim(Lease.detached(Duration.ofNanos(200)), null);
        detached.fixedLease.endAt(1_200);
        assertThat(detached.isDetached()).isTrue();
        assertThat(detached.deadline()).isEqualTo(1_090);
        assertThat(detached.leaseNanos()).isEqualTo(200);
        detached.hold();
        assertThat(detached.deadline()).isEqualTo(1_200);
        assertThat(detached.outlivingLease()).isSameAs(detached.fixedLease);
        session.end(Session.State.ENDED);
        assertThat(detached.hasEndedAtStore(1_250)).isFalse();
        assertThat(detached.hasEndedAtStore(1_251)).isTrue();
    }
}
