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

/** A claim of a client on the quorum. While it waits it is here and nowhere else. */
final class QuorumClaim {

    /** An attempt to have it granted that is under way. */
    interface Attempt {
        /** Answers whoever asks meanwhile as those who asked before. */
        void join(CompletableFuture<Reply> future, long askedAt);

        /** The claim was ended meanwhile. */
        void abandon();

        /** A member's session has ended, with all that it held. */
        void endedAt(MemberSession there);

        /** Under which ids it asks. */
        List<ClaimRef> refs();
    }

    enum State {
        /** It asks the members now and then, and has nothing there in between. */
        WAITING,
        /** A majority has granted it. */
        HELD,
        /** It is over, and what members have of it is being ended. */
        OVER
    }

    /** Orders the claims of a session. */
    final long number;

    final QuorumSession session;
    final ClaimRef ref;
    final Lease lease;

    /** How it asks. Of a claim that another connection made, nothing. */
    final Command.@Nullable Acquire request;

    State state = State.WAITING;

    /** The present asking, if there is one. */
    @Nullable
    Attempt attempt;

    /** How often it has asked. */
    int attempts;

    /** What members have of it: those of the attempt that succeeded, and those that were repaired since. */
    List<MemberHold> holds = new ArrayList<>();

    /** What is being claimed again at members that were away; none of it counts yet. */
    final List<MemberHold> repairs = new ArrayList<>();

    /** How often it was claimed again anywhere. */
    int repaired;

    /** What is being ended of it at members, of this asking or an earlier one. */
    final List<MemberHold> ending = new ArrayList<>();

    /** Who watches its end. */
    final List<Runnable> watchers = new ArrayList<>();

    /** How many members have said that they had it, and have released it. */
    int released;

    /** How many members did not have it any more when it was to be released. */
    int missing;

    /**
     * What was given to the client; null while it waits, and where it is not known which tokens are certainly its own.
     */
    @Nullable
    TokenBlock tokens;

    /** How much is held: what was asked for, less what was given back. */
    int weight;

    /** Of a claim with a lease of its own: until when the client may believe in it, by the clock here. */
    long leaseEndsAt;

    /** How many changes are under way at its members. */
    int changing;

    /** How many changes were begun. */
    int changes;

    /** Whether the client was told that it may be lost. */
    boolean isSuspect;

    QuorumClaim(long number, QuorumSession session, ClaimRef ref, Lease lease, Command.@Nullable Acquire request) {
        this.number = number;
        this.session = session;
        this.ref = ref;
        this.lease = lease;
        this.request = request;
        this.weight = request == null ? 1 : request.weight();
    }

    /**
     * Whether it is known from members alone, and not from all of them: what was given may end where only those that
     * are missing stand.
     */
    boolean isKnownInPart(int members) {
        return request == null && holds.size() < members;
    }

    boolean isDetached() {
        return lease.binding() == Lease.Binding.DETACHED;
    }

    boolean hasOwnLease() {
        return lease.binding() != Lease.Binding.SESSION;
    }

    /** At how many members something may be left of it. */
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
