package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A client's session: one at each member, of which some may be missing. */
final class QuorumSession {

    final SessionId id;

    /** What joins, at the members, what is of this session. */
    final String nonce;

    final String label;
    final Duration ttl;

    /** By the index of the member; null where there is none at present. */
    final @Nullable MemberSession[] at;

    /** By the index of the member: whether one is being opened there. */
    final boolean[] isOpening;

    /** In the order in which they were made; waiting, held, and over until all members have ended them. */
    final Map<ClaimRef, QuorumClaim> claims = new LinkedHashMap<>();

    /** The highest epoch that the client has sent. */
    long epoch;

    boolean isRetired;

    /** Closed, or ended: nothing is opened for it any more. */
    boolean isOver;

    /** When the round began whose success the client was told last: its own deadline goes back to that. */
    long toldSince;

    /** Whether the client was told at all through this connection. */
    boolean isTold;

    /** Whether another connection opened it: then it may have claims that are not known here. */
    boolean isForeign;

    private long numbers;

    QuorumSession(SessionId id, String nonce, String label, Duration ttl, @Nullable MemberSession[] at) {
        this.id = id;
        this.nonce = nonce;
        this.label = label;
        this.ttl = ttl;
        this.at = at;
        this.isOpening = new boolean[at.length];
    }

    long nextNumber() {
        return ++numbers;
    }

    /** At how many members it may be alive. */
    int countLive() {
        int count = 0;
        for (MemberSession each : at) {
            count += each == null ? 0 : 1;
        }
        return count;
    }

    @Nullable
    QuorumClaim claim(ClaimRef ref) {
        return claims.get(ref);
    }
}
