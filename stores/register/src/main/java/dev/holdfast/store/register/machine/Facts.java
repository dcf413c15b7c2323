package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The facts that a step needs in addition to the state. It notes those that it does not find here as missing. Then the
 * step is void, and is computed again after a query. Facts only grow: an ended session never lives again, and epochs
 * only rise.
 *
 * <p>Not thread-safe.
 */
public final class Facts {

    /**
     * A lease of the server that a claim needs.
     *
     * @param claim the claim
     * @param seq the extension that it is for; 0 for the first
     * @param length its length, which may differ in a step on another version of the record
     */
    public record LeaseKey(ClaimRef claim, long seq, Duration length) {}

    /** What the client already knows of sessions. */
    public interface Hearsay {
        /** Whether a session or a lease is known to have ended. */
        boolean isGone(SessionId id);

        /** What is known of a session, which may have ended or have a higher epoch by now. */
        @Nullable
        SessionRecord session(SessionId id);
    }

    private final Hearsay hearsay;

    private ServerTime time = ServerTime.NONE;

    /** The client's wall clock, in microseconds. */
    private long wall;

    // Most steps need nothing more than what the client knows, so each collection is made at its first entry.
    private Set<SessionId> gone = Set.of();
    private Map<SessionId, SessionRecord> sessions = Map.of();
    private Map<LeaseKey, OpenedSession> leases = Map.of();
    private Map<SessionId, Duration> remaining = Map.of();

    private Set<SessionId> missingSessions = Set.of();
    private Set<LeaseKey> missingLeases = Set.of();
    private Set<SessionId> missingRemaining = Set.of();

    /** Whether others have announced claims that the step does not add. */
    private boolean areOthersAnnounced;

    /** Begins with what the client knows. */
    public Facts(Hearsay hearsay) {
        this.hearsay = hearsay;
    }

    /** Sets the time by the server's clock; none where the server keeps leases itself. */
    public void time(ServerTime now) {
        time = now;
    }

    /** Sets the time by the client's own clock, for people, where the server has none. */
    public void wallMillis(long now) {
        wall = now * 1_000;
    }

    /** The present time in microseconds, for people: by the server's clock if it has one. */
    long shown() {
        return serverKeepsLeases() ? wall : time.latestMicros();
    }

    /** The earliest present time of the server's clock, in microseconds since 1970. */
    long earliest() {
        return time.earliestMicros();
    }

    /** The latest present time. */
    long latest() {
        return time.latestMicros();
    }

    boolean serverKeepsLeases() {
        return time.equals(ServerTime.NONE);
    }

    /** Sets whether others have announced claims that the step does not add: they wait for a holder too. */
    public void othersAnnounced(boolean areThere) {
        areOthersAnnounced = areThere;
    }

    boolean areOthersAnnounced() {
        return areOthersAnnounced;
    }

    /** Notes that a session or a lease has ended. */
    public void gone(SessionId id) {
        gone = toFill(gone);
        gone.add(id);
    }

    /** Whether a session or a lease is known to have ended. */
    public boolean isGone(SessionId id) {
        return gone.contains(id) || hearsay.isGone(id);
    }

    /** Notes what the server says of a session that lives. */
    public void session(SessionId id, SessionRecord record) {
        sessions = toFill(sessions);
        sessions.merge(id, record, (old, now) -> old.epoch() > now.epoch() ? old : now);
    }

    /** Notes that the epoch of a session is at least this one. */
    public void epoch(SessionId id, long epoch) {
        SessionRecord known = session(id);
        if (known != null && known.epoch() < epoch) {
            sessions = toFill(sessions);
            sessions.put(id, new SessionRecord(epoch, known.label(), known.ttl()));
        }
    }

    /** The session as far as it is known; otherwise it is missing. */
    @Nullable
    SessionRecord session(SessionId id) {
        SessionRecord known = sessions.get(id);
        if (known == null) {
            known = hearsay.session(id);
        }
        if (known == null) {
            missingSessions = toFill(missingSessions);
            missingSessions.add(id);
        }
        return known;
    }

    /** Notes a lease that was opened for a claim. */
    public void lease(LeaseKey key, OpenedSession lease) {
        leases = toFill(leases);
        leases.put(key, lease);
        remaining(lease.id(), key.length());
    }

    /** The lease that was opened for a claim; otherwise it is missing. */
    @Nullable
    SessionId lease(LeaseKey key) {
        OpenedSession opened = leases.get(key);
        if (opened == null) {
            missingLeases = toFill(missingLeases);
            missingLeases.add(key);
            return null;
        }
        return opened.id();
    }

    /** The leases that were opened for the steps on these facts. */
    public Set<SessionId> openedLeases() {
        if (leases.isEmpty()) {
            return Set.of();
        }
        Set<SessionId> ids = new HashSet<>();
        leases.values().forEach(lease -> ids.add(lease.id()));
        return ids;
    }

    /** Notes the remaining time of a session or a lease without a renewal. */
    public void remaining(SessionId id, Duration left) {
        remaining = toFill(remaining);
        remaining.put(id, left);
    }

    /** Notes that an answer contains the remaining time of a session or lease. */
    void needsRemaining(SessionId id) {
        if (!remaining.containsKey(id)) {
            missingRemaining = toFill(missingRemaining);
            missingRemaining.add(id);
        }
    }

    /** The remaining time of a session or a lease; zero if it is unknown. */
    Duration remaining(SessionId id) {
        return remaining.getOrDefault(id, Duration.ZERO);
    }

    private static <T> Set<T> toFill(Set<T> set) {
        return set.isEmpty() ? new HashSet<>() : set;
    }

    private static <K, V> Map<K, V> toFill(Map<K, V> map) {
        return map.isEmpty() ? new HashMap<>() : map;
    }

    /** Begins a step: nothing is missing yet. */
    public void begin() {
        missingSessions = Set.of();
        missingLeases = Set.of();
        missingRemaining = Set.of();
    }

    /** Whether the step found all facts that it needed; its answers may also need remaining times. */
    public boolean isComplete() {
        return missingSessions.isEmpty() && missingLeases.isEmpty();
    }

    /** The unknown sessions that the step needs. */
    public Set<SessionId> missingSessions() {
        return Set.copyOf(missingSessions);
    }

    /** The leases that the step needs. */
    public Set<LeaseKey> missingLeases() {
        return Set.copyOf(missingLeases);
    }

    /** The sessions and leases whose remaining times the answers contain. */
    public Set<SessionId> missingRemaining() {
        return Set.copyOf(missingRemaining);
    }
}
