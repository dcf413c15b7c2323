package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.store.register.Arrival;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Announced claims of which other clients have notified this one, because it is among those that write the record of
 * the resource next. Its next write adds them to the record.
 *
 * <p>A notice is a hint. If another client has already added the claim, a write that does so again fails, and the
 * notice is dropped. Thread-safe.
 */
final class ArrivalNotices {

    /** Further notices are ignored; the clients of those claims add them without help. */
    private static final int MOST = 64;

    /** After this time the client of a claim has stopped waiting for the clients that it notified. */
    private static final long LIFETIME_NANOS = 1_000_000_000;

    @GuardedBy("this")
    private final Map<ClaimRef, Received> received = new LinkedHashMap<>();

    private record Received(Arrival arrival, long at) {}

    /** When the last notice came, if any did. */
    @GuardedBy("this")
    private @Nullable Long lastAt;

    /**
     * Adds a notice.
     *
     * @param oldest the oldest announced claim of its session that still waits: notices of older ones are outdated
     */
    synchronized void add(Arrival arrival, long oldest, long now) {
        lastAt = now;
        received.keySet()
                .removeIf(claim -> claim.session().equals(arrival.claim().session()) && claim.claim() < oldest);
        dropOld(now);
        if (received.size() < MOST) {
            received.put(arrival.claim(), new Received(arrival, now));
        }
    }

    /** Whether other clients have announced claims recently. */
    synchronized boolean areRecent(long now) {
        return lastAt != null && now - lastAt < LIFETIME_NANOS;
    }

    synchronized List<Arrival> present(long now) {
        if (received.isEmpty()) {
            return List.of();
        }
        dropOld(now);
        return received.values().stream().map(Received::arrival).toList();
    }

    @GuardedBy("this")
    private void dropOld(long now) {
        received.values().removeIf(notice -> now - notice.at() > LIFETIME_NANOS);
    }

    /** Drops the notices of some claims; returns whether there was one. */
    @CanIgnoreReturnValue
    synchronized boolean drop(Collection<Arrival> arrivals) {
        boolean isDropped = false;
        for (Arrival arrival : arrivals) {
            isDropped |= received.remove(arrival.claim()) != null;
        }
        return isDropped;
    }
}
