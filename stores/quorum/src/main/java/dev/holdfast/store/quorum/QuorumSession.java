package dev.holdfast.store.quorum;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A client's session: one session at each member, some of which may be missing. */
final class QuorumSession {

    final SessionId id;

    /** Identifies the parts of this session at the members. */
    final String nonce;

    final String label;
    final Duration ttl;

    /** By the index of the member; null if there is none at present. */
    final @Nullable MemberSession[] at;

    /** By the index of the member: whether a session is being opened there. */
    final boolean[] isOpening;

    /** In order of creation: waiting, held, and ended ones until all members have ended them. */
    final Map<ClaimRef, QuorumClaim> claims = new LinkedHashMap<>();

    /** The highest epoch that the client has sent. */
    long epoch;

    boolean isRetired;

    /** Whether it is closed or has ended, so that nothing is opened for it any more. */
    boolean isOver;

    /**
     * When the last round started whose success was reported to the client, which counts its own deadline from there.
     */
    long confirmedSince;

    /** Whether this connection has reported any success to the client. */
    boolean isConfirmed;

    /** Whether another connection opened it: then it may have claims unknown to this one. */
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

    /** The number of members at which it may be alive. */
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
