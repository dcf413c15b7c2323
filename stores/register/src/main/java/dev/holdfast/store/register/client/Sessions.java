package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.Facts;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What this client knows of sessions: its own, and those of others that have ended. Thread-safe. */
final class Sessions implements Facts.Hearsay {

    /** The most ended sessions that are remembered. For others the server is queried. */
    private static final int MOST_GONE = 16_384;

    /** The sessions that this client opened and that have not ended. */
    @GuardedBy("this")
    private final Map<SessionId, SessionRecord> own = new HashMap<>();

    @GuardedBy("this")
    private final Map<SessionId, Boolean> gone = new LinkedHashMap<>();

    @GuardedBy("this")
    private final Map<SessionId, Bound> endsNotBefore = new LinkedHashMap<>();

    /**
     * A time of the client's clock before which a session or lease does not end, whatever its client does.
     *
     * @param end that time
     * @param goodUntil when the server must be queried again, because the session is likely to have been renewed
     */
    private record Bound(long end, long goodUntil) {}

    synchronized void opened(OpenedSession session, String label) {
        own.put(session.id(), new SessionRecord(0, label, session.ttl()));
    }

    synchronized boolean isOwn(SessionId id) {
        return own.containsKey(id);
    }

    /** A lower bound of the epoch of a session: 0 for one of another client. */
    synchronized long epoch(SessionId id) {
        SessionRecord known = own.get(id);
        return known == null ? 0 : known.epoch();
    }

    synchronized void epoch(SessionId id, long epoch) {
        own.computeIfPresent(
                id, (same, old) -> old.epoch() >= epoch ? old : new SessionRecord(epoch, old.label(), old.ttl()));
    }

    @Override
    public synchronized boolean isGone(SessionId id) {
        return gone.containsKey(id);
    }

    @Override
    public synchronized @Nullable SessionRecord session(SessionId id) {
        return own.get(id);
    }

    /**
     * Notes that a session or a lease has ended.
     *
     * @return whether it was an open session of this client
     */
    @CanIgnoreReturnValue
    synchronized boolean ended(SessionId id) {
        gone.put(id, true);
        forgetOldest(gone);
        endsNotBefore.remove(id);
        return own.remove(id) != null;
    }

    /** Notes the remaining time of a session or lease at a time of the client's clock. */
    synchronized void left(SessionId id, Duration left, long at) {
        endsNotBefore.remove(id);
        endsNotBefore.put(id, new Bound(at + left.toNanos(), at + left.toNanos() / 4));
        forgetOldest(endsNotBefore);
    }

    /** A lower bound of the remaining time of a session, if the server was queried recently. */
    synchronized Optional<Duration> left(SessionId id, long now) {
        Bound bound = endsNotBefore.get(id);
        return bound == null || bound.goodUntil() - now <= 0
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(bound.end() - now));
    }

    private static void forgetOldest(Map<SessionId, ?> map) {
        if (map.size() > MOST_GONE) {
            var oldest = map.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
    }
}
