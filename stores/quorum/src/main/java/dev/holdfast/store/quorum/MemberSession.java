package dev.holdfast.store.quorum;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.quorum.member.Member;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A client's session at one member, until the member ends or forgets it. Then another one may follow. */
final class MemberSession {

    /** The time of renewal if this connection has never renewed the session. */
    static final long NEVER = Long.MIN_VALUE;

    private record Waiting(long epoch, Runnable action) {}

    final Member member;
    final SessionId id;

    /** When the newest acknowledged request that extended it was sent. */
    long renewedAt = NEVER;

    /** When the newest request that may have extended it was sent. */
    long lastSentAt;

    /** The highest epoch that the member has acknowledged; commands carry it. */
    long epoch;

    /** How often the epoch was raised at this member alone, to settle something. */
    long raises;

    /** Whether the member is known to accept nothing new from it. */
    boolean isRetired;

    /** Whether it is known to have ended. */
    boolean isOver;

    /** Whether it is known that the member has kept its data, or when it can be trusted again. */
    boolean isVerified;

    /** When the member starts to count; it may still be kept out after a loss of data. */
    long trustedFrom;

    /** Claims held at other members that are to be regained here. */
    final Deque<QuorumClaim> toRepair = new ArrayDeque<>();

    /** The number of repairs in progress. */
    int repairing;

    /** How many claims were regained since the last log line. */
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

    /** Whether no command sent under this epoch can have an effect any more. */
    boolean isBeyond(long underEpoch) {
        return isOver || isRetired || epoch > underEpoch;
    }

    void whenBeyond(long underEpoch, Runnable action) {
        if (isBeyond(underEpoch)) {
            action.run();
        } else {
            waiting.add(new Waiting(underEpoch, action));
        }
    }

    /** Closes it with one request, whose outcome does not matter. */
    void close() {
        member.ask(new Command.CloseSession(id), (reply, failure) -> {});
    }

    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    /** Runs the actions that waited for the state reached. */
    void runDue() {
        List<Runnable> due = new ArrayList<>();
        waiting.removeIf(each -> isBeyond(each.epoch()) && due.add(each.action()));
        due.forEach(Runnable::run);
    }
}
