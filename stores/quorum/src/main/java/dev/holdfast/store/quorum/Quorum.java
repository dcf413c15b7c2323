package dev.holdfast.store.quorum;

import dev.holdfast.Environment;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Listeners;
import dev.holdfast.store.quorum.member.EventLoop;
import dev.holdfast.store.quorum.member.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The state of a quorum, and the losses that follow from it. Confined to events of the loop. */
final class Quorum {

    private static final long MOST_SPREAD = TokenBlock.MAX_SIZE / 2;

    final EventLoop loop;
    final Environment environment;
    final QuorumRules rules;

    /** How long a member may take to answer, in nanoseconds. */
    final long memberTimeoutNanos;

    final Duration longestLease;
    final List<Member> members = new ArrayList<>();
    final Map<SessionId, QuorumSession> sessions = new HashMap<>();
    final Settlement settlement = new Settlement(this);
    final Markers markers = new Markers(this);
    final MemberSessions memberSessions = new MemberSessions(this);
    Duration minTtl = Duration.ofMillis(1);
    Duration granularity = Duration.ofNanos(1);
    final Listeners listeners = new Listeners();

    /** The recent distance between the first tokens of the members. */
    private long spread;

    Quorum(Environment environment, QuorumRules rules, Duration memberTimeout, Duration longestLease) {
        this.environment = environment;
        this.rules = rules;
        this.memberTimeoutNanos = memberTimeout.toNanos();
        this.longestLease = longestLease;
        this.loop = new EventLoop(environment);
    }

    int majority(int reached) {
        return rules.majority(members.size(), reached);
    }

    int majority() {
        return majority(members.size());
    }

    /** The number of members without which no majority is possible. */
    int blocking() {
        return members.size() - majority() + 1;
    }

    void signal(Signal one) {
        if (!loop.isClosed()) {
            listeners.accept(one);
        }
    }

    // ---- Whether a claim counts

    /** Whether a majority has it for as long as the client relies on it. */
    boolean isCovered(QuorumClaim claim, Collection<MemberHold> holds, long confirmedSince) {
        int count = 0;
        for (MemberHold hold : holds) {
            boolean counts = claim.isDetached()
                    || (claim.session.isConfirmed && rules.counts(hold.session.renewedAt, confirmedSince));
            count += hold.isHeld() && counts ? 1 : 0;
        }
        return count >= majority(holds.size());
    }

    /** The greatest number that a majority of all members reaches; {@code none} if too few have one. */
    long reachedByMajority(
            Collection<MemberHold> holds, java.util.function.ToLongFunction<MemberHold> number, long none) {
        long[] numbers = holds.stream()
                .filter(MemberHold::isHeld)
                .mapToLong(number)
                .sorted()
                .toArray();
        int majority = majority(holds.size());
        return numbers.length < majority ? none : numbers[numbers.length - majority];
    }

    // ---- Losses

    /** Handles that a member no longer has it. */
    void lost(MemberHold hold) {
        hold.state = MemberHold.State.NONE;
        QuorumClaim claim = hold.claim;
        claim.holds.remove(hold);
        if (claim.state == QuorumClaim.State.HELD && claim.attempt == null) {
            loseIfGone(claim);
        }
    }

    void loseIfHeld(MemberHold hold) {
        if (hold.isHeld()) {
            lost(hold);
        }
    }

    void loseIfGone(QuorumClaim claim) {
        long possible = claim.holds.stream()
                .filter(hold -> hold.isHeld() || hold.state == MemberHold.State.ASKED)
                .count();
        if (possible < majority(claim.holds.size())) {
            lose(claim);
        }
    }

    /**
     * Ends a claim that the client no longer holds. The client is notified before the members are asked to end it:
     * these keep other owners out, and as long as they do the client may rely on it.
     */
    void lose(QuorumClaim claim) {
        if (claim.state != QuorumClaim.State.OVER) {
            signal(new Signal.Revoked(claim.ref));
            drop(claim);
        }
    }

    /** Ends a claim: its holds at members are ended, and it is forgotten when that is done. */
    void drop(QuorumClaim claim) {
        claim.state = QuorumClaim.State.OVER;
        claim.abandonAttempt();
        for (MemberHold hold : List.copyOf(claim.holds)) {
            settlement.end(hold);
        }
        for (MemberHold hold : List.copyOf(claim.repairs)) {
            settlement.end(hold);
        }
        forgetIfSettled(claim);
    }

    void forgetIfSettled(QuorumClaim claim) {
        if (claim.state == QuorumClaim.State.OVER && claim.ending.isEmpty()) {
            claim.session.claims.remove(claim.ref, claim);
        }
    }

    // ---- Tokens

    /** How many extra tokens to request, so that the members' blocks overlap although their clocks differ. */
    long allowance() {
        return spread;
    }

    void noteSpread(long observed) {
        long wanted = Math.min(2 * observed, MOST_SPREAD);
        spread = wanted >= spread ? wanted : spread - (spread - wanted) / 16 - 1;
        spread = Math.max(spread, 0);
    }

    // ---- Failures

    static StoreException failed(Reason reason, Effect effect, String what) {
        return new StoreException(reason, effect, what, null);
    }

    StoreException unavailable(Effect effect, String what, List<String> reasons) {
        String why = reasons.isEmpty() ? "" : " (" + String.join("; ", reasons) + ")";
        return failed(
                Reason.UNAVAILABLE,
                effect,
                what + " by fewer than the required " + majority() + " of " + members.size() + " members" + why);
    }
}
