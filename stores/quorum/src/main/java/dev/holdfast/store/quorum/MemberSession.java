package dev.holdfast.store.quorum;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.quorum.member.Member;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A session at one member: the client's there, until the member ends or forgets it. Then another one may follow. */
final class MemberSession {

    /** Of a session that this connection has never renewed. */
    static final long NEVER = Long.MIN_VALUE;

    private record Waiting(long above, Runnable action) {}

    final Member member;
    final SessionId id;

    /** When the newest request was sent that was acknowledged and moved its deadline. */
    long renewedAt = NEVER;

    /** When the newest request was sent that may have moved its deadline. */
    long lastSentAt;

    /** The highest epoch that the member has acknowledged: commands go out under it. */
    long epoch;

    /** How often the epoch was raised here alone, to settle something. */
    long raises;

    /** Whether the member is known to take nothing new from it. */
    boolean isRetired;

    /** Whether it is known to have ended. */
    boolean isOver;

    /** Whether the member is known to have kept its data, or from when on it may be trusted again. */
    boolean isVerified;

    /** From when on the member counts; it may still be kept out after it lost its data. */
    long trustedFrom;

    /** What is held elsewhere, and is to be claimed again here. */
    final Deque<QuorumClaim> toRepair = new ArrayDeque<>();

    /** How many claims are being claimed again. */
    int repairing;

    /** How many were regained since the last that was told about it. */
    int repaired;

    private final List<Waiting> waiting = new ArrayList<>();
    boolean isRaising;

    MemberSession(Member member, SessionId id, long now) {
        this.member = member;
        this.id = id;
        this.lastSentAt = now;
    }

    boolean isTrusted(long now) {
        return isVerified && now >= trustedFrom && !isOver;
    }

    /** Whether nothing that was sent under an epoch can have an effect any more. */
    boolean isPast(long underEpoch) {
        return isOver || isRetired || epoch > underEpoch;
    }

    void whenPast(long underEpoch, Runnable action) {
        if (isPast(underEpoch)) {
            action.run();
        } else {
            waiting.add(new Waiting(underEpoch, action));
        }
    }

    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    /** Runs what waited for the state that has been reached. */
    void goOn() {
        List<Runnable> due = new ArrayList<>();
        waiting.removeIf(each -> isPast(each.above()) && due.add(each.action()));
        due.forEach(Runnable::run);
    }
}
