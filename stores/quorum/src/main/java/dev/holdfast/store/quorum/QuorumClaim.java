package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.TokenBlock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A client's claim on the quorum. While it waits, only this connection knows of it. */
final class QuorumClaim {

    /** An attempt in progress to get it granted. */
    interface Attempt {
        /** Adds a future that is completed with the result of this attempt. */
        void join(CompletableFuture<Reply> future, long requestedAt);

        /** Ends the attempt, because the claim was ended. */
        void abandon();

        /** A member's session has ended, with all its holds. */
        void endedAt(MemberSession there);

        /** The claims that it makes at the members. */
        List<ClaimRef> refs();
    }

    enum State {
        /** It tries at the members from time to time, and has nothing there in between. */
        WAITING,
        /** A majority has granted it. */
        HELD,
        /** It has ended, and its holds at the members are being ended. */
        OVER
    }

    /** Orders the claims of a session. */
    final long number;

    final QuorumSession session;
    final ClaimRef ref;
    final Lease lease;

    /** The client's request; null if another connection made the claim. */
    final Command.@Nullable Acquire request;

    State state = State.WAITING;

    /** Whether its holds at members may be annotated. */
    boolean isAnnotated;

    /** The current attempt, if any. */
    @Nullable
    Attempt attempt;

    /** The number of attempts. */
    int attempts;

    /** Its holds at members: those of the successful attempt, and those regained since. */
    List<MemberHold> holds = new ArrayList<>();

    /** The holds being regained at members that were away; none counts yet. */
    final List<MemberHold> repairs = new ArrayList<>();

    /** The number of repairs. */
    int repaired;

    /** Its holds that are being ended at members, from any attempt. */
    final List<MemberHold> ending = new ArrayList<>();

    /** The claim with the same reference that was made after this one; it waits for what this one still ends. */
    @Nullable
    QuorumClaim successor;

    /** The listeners for its end. */
    final List<Runnable> endListeners = new ArrayList<>();

    /** How many members had it and have released it. */
    int released;

    /** How many members no longer had it when it was released. */
    int missing;

    /** The client's tokens; null while it waits, and if it is unknown which tokens are certainly its own. */
    @Nullable
    TokenBlock tokens;

    /** The weight held: the requested one, less what was released. */
    int weight;

    /** For a fixed lease: until when the client may rely on it, by the local clock. */
    long leaseEndsAt;

    /** The number of changes in progress. */
    int changing;

    /** The number of changes started. */
    int changes;

    /** Whether it was reported as in doubt. */
    boolean isInDoubt;

    QuorumClaim(long number, QuorumSession session, ClaimRef ref, Lease lease, Command.@Nullable Acquire request) {
        this.number = number;
        this.session = session;
        this.ref = ref;
        this.lease = lease;
        this.request = request;
        this.weight = request == null ? 1 : request.weight();
    }

    /**
     * Whether it is known only from members, and not from all: then its tokens may end where a missing member stands.
     */
    boolean isKnownInPart(int members) {
        return request == null && holds.size() < members;
    }

    boolean isDetached() {
        return lease.binding() == Lease.Binding.DETACHED;
    }

    boolean hasFixedLease() {
        return lease.binding() != Lease.Binding.SESSION;
    }

    void abandonAttempt() {
        if (attempt != null) {
            attempt.abandon();
        }
    }

    /** The number of members that may still have some of it. */
    long countEnding() {
        return ending.stream().map(MemberHold::member).distinct().count();
    }

    static int countHeld(Collection<MemberHold> holds) {
        int count = 0;
        for (MemberHold hold : holds) {
            count += hold.isHeld() ? 1 : 0;
        }
        return count;
    }
}
