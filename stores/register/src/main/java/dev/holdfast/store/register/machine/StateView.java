package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** A read-only view of a state. Not thread-safe. */
public final class StateView {

    /** More waiters than this are counted but not named. */
    private static final int MAX_WAITERS_SHOWN = 100;

    private final ResourceState state;
    private final long base;

    StateView(ResourceState state, long base) {
        this.state = state;
        this.base = base;
    }

    /** How many hold or wait. */
    public int parties() {
        return state.parties();
    }

    /** The claims that wait, head first. */
    public List<ClaimRef> waiting() {
        return List.copyOf(state.queue.keySet());
    }

    /** The claims that hold, oldest first. */
    public List<ClaimRef> holders() {
        return List.copyOf(state.grants.keySet());
    }

    /**
     * Describes a resource for people; empty if it is unused.
     *
     * @param left the remaining time of a session, or of a lease that the server keeps
     * @param annotations of its holders
     * @param facts with the present time
     */
    public Optional<ResourceInfo> info(
            Function<SessionId, Duration> left, Map<ClaimRef, String> annotations, Facts facts) {
        ResourceSpec declared = state.declared;
        if (declared == null) {
            return Optional.empty();
        }
        return Optional.of(new ResourceInfo(
                state.name,
                new ResourceSpec(declared.kind(), state.capacity, declared.order()),
                declared.capacity(),
                parties(state.grants.values(), Integer.MAX_VALUE, left, annotations, facts),
                state.grants.size(),
                state.heldWeight(),
                parties(state.queue.values(), MAX_WAITERS_SHOWN, left, Map.of(), facts),
                state.queue.size(),
                base + state.lastToken));
    }

    private List<Party> parties(
            Collection<ClaimEntry> claims,
            int limit,
            Function<SessionId, Duration> left,
            Map<ClaimRef, String> annotations,
            Facts facts) {
        return claims.stream()
                .limit(limit)
                .map(claim -> new Party(
                        claim.ref,
                        claim.session.label(),
                        claim.weight,
                        claim.isHeld() ? Optional.of(Answers.block(base, claim.first, claim.last)) : Optional.empty(),
                        left(claim, left, facts.latest()),
                        Micros.duration(claim.session.ttlMicros()),
                        claim.queuedAt == 0
                                ? Optional.empty()
                                : Optional.of(Micros.duration(Math.max(0, facts.shown() - claim.queuedAt))),
                        annotations.getOrDefault(claim.ref, "")))
                .toList();
    }

    private static Duration left(ClaimEntry claim, Function<SessionId, Duration> left, long unixMicros) {
        Duration own = claim.leaseId != null
                ? left.apply(claim.leaseId)
                : Micros.duration(claim.endsAt == 0 ? Long.MAX_VALUE / 1_000 : Math.max(0, claim.endsAt - unixMicros));
        if (claim.outlivesSession()) {
            return own;
        }
        Duration session = left.apply(claim.session.id());
        return own.compareTo(session) < 0 ? own : session;
    }
}
