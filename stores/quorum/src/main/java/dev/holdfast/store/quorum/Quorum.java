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

/** State of a quorum, and the losses that follow from it. Touched by events of the loop alone. */
final class Quorum {

    private static final long MOST_SPREAD = TokenBlock.MAX_SIZE / 2;

    final EventLoop loop;
    final Environment environment;
    final QuorumRules rules;

    /** How long a member may take to answer, in nanoseconds. */
    final long patience;

    final Duration longestLease;
    final List<Member> members = new ArrayList<>();
    final Map<SessionId, QuorumSession> sessions = new HashMap<>();
    final Settlement settlement = new Settlement(this);
    final Markers markers = new Markers(this);
    final MemberSessions opener = new MemberSessions(this);
    Duration minTtl = Duration.ofMillis(1);
    Duration granularity = Duration.ofNanos(1);
    final Listeners listeners = new Listeners();

    /** How far apart the first tokens of the members were lately. */
    private long spread;

    Quorum(Environment environment, QuorumRules rules, Duration patience, Duration longestLease) {
        this.environment = environment;
        this.rules = rules;
        this.patience = patience.toNanos();
        this.longestLease = longestLease;
        this.loop = new EventLoop(environment);
    }

    int majority(int reached) {
        return rules.majority(members.size(), reached);
    }

    int majority() {
        return majority(members.size());
    }

    /** With so many members against it, no majority is for it any more. */
    int blocking() {
        return members.size() - majority() + 1;
    }

    void tell(Signal signal) {
        if (!loop.isClosed()) {
            listeners.accept(signal);
        }
    }

    // ---- Whether a claim counts

    /** Whether a majority has it, and all of that majority for as long as the client believes. */
    boolean isCovered(QuorumClaim claim, Collection<MemberHold> holds, long toldSince) {
        int count = 0;
        for (MemberHold hold : holds) {
            boolean counts =
                    claim.isDetached() || (claim.session.isTold && rules.counts(hold.session.renewedAt, toldSince));
            count += hold.isHeld() && counts ? 1 : 0;
        }
        return count >= majority(holds.size());
    }

    /** The greatest number that a majority of all members reaches, where members without one count as none. */
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

    /** A member does not have it any more. */
    void lost(MemberHold hold) {
        hold.state = MemberHold.State.NONE;
        QuorumClaim claim = hold.claim;
        claim.holds.remove(hold);
        if (claim.state == QuorumClaim.State.HELD && claim.attempt == null) {
            loseIfGone(claim);
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
     * The client does not hold it any more. It is told before the members that still have it are told to end it: these
     * keep others out, and as long as they do the client may believe in it.
     */
    void lose(QuorumClaim claim) {
        if (claim.state != QuorumClaim.State.OVER) {
            tell(new Signal.Revoked(claim.ref));
            drop(claim);
        }
    }

    /** It is over: what members have of it is ended, and it is forgotten when that is done. */
    void drop(QuorumClaim claim) {
        claim.state = QuorumClaim.State.OVER;
        QuorumClaim.Attempt attempt = claim.attempt;
        if (attempt != null) {
            attempt.abandon();
        }
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

    /**
     * How many tokens more than are wanted are asked for, so that the members' blocks overlap though their clocks
     * differ.
     */
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
                what + " by fewer than the " + majority() + " of " + members.size() + " members that it takes" + why);
    }
}
