package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.RecordVersion;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lanes of the resources that this client uses, and of some that it used recently, whose records it remembers.
 * Thread-safe.
 */
final class Lanes {

    /** The most memory of idle lanes: about 18,000 with short names. Other records are guessed or read again. */
    private static final int MOST_IDLE_BYTES = 8 << 20;

    @GuardedBy("this")
    private final Map<ResourceName, Lane> used = new HashMap<>();

    /** In the order in which they became idle. */
    @GuardedBy("this")
    private final LinkedHashMap<ResourceName, Lane> idle = new LinkedHashMap<>();

    @GuardedBy("this")
    private int idleBytes;

    void submit(Context context, ResourceName resource, LaneCall call) {
        Lane lane;
        synchronized (this) {
            lane = used.get(resource);
            if (lane == null) {
                Lane rested = idle.remove(resource);
                idleBytes -= rested == null ? 0 : rested.bytes();
                lane = rested == null ? new Lane(context, resource) : rested;
                used.put(resource, lane);
            }
            lane.add(call);
        }
        if (call.isUrgent()) {
            lane.endPause();
        }
        lane.run(call);
    }

    /** Makes a lane idle that has no calls, and no claim of this client. */
    synchronized void rest(Lane lane) {
        if (lane.isIdle() && used.remove(lane.resource(), lane)) {
            idle.put(lane.resource(), lane);
            idleBytes += lane.bytes();
            for (var oldest = idle.values().iterator(); idleBytes > MOST_IDLE_BYTES; oldest.remove()) {
                idleBytes -= oldest.next().bytes();
            }
        }
    }

    /** Notes that another client has written the record of a resource. */
    void written(ResourceName resource, RecordVersion version, Optional<byte[]> state) {
        Lane lane;
        synchronized (this) {
            lane = used.get(resource);
        }
        if (lane != null) {
            lane.written(version, state);
        }
    }

    /**
     * Notes that another client has announced a claim.
     *
     * @param oldest the oldest announced claim of its session that still waits
     */
    void announced(Arrival arrival, long oldest, long now) {
        ResourceName resource = arrival.claim().resource();
        Lane lane;
        synchronized (this) {
            lane = used.getOrDefault(resource, idle.get(resource));
        }
        if (lane != null) {
            lane.notices().add(arrival, oldest, now);
        }
    }

    /** Continues a round that waited for mail about a resource, after the contents of the mail were applied. */
    void mailed(ResourceName resource) {
        Lane lane;
        synchronized (this) {
            lane = used.get(resource);
        }
        if (lane != null) {
            lane.endPause();
        }
    }

    void gone(SessionId id, boolean wasOwn) {
        List<Lane> touched;
        synchronized (this) {
            touched = List.copyOf(used.values());
        }
        touched.forEach(lane -> lane.gone(id, wasOwn));
    }
}
