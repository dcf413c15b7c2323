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
 * The lanes of the resources that this client uses, and of some that it used lately, whose records it remembers.
 * Thread-safe.
 */
final class Lanes {

    /** So many resources that this client used are remembered; of others the record is read again. */
    private static final int MOST_IDLE = 4_096;

    @GuardedBy("this")
    private final Map<ResourceName, Lane> used = new HashMap<>();

    /** The one that rested longest first. */
    @GuardedBy("this")
    private final LinkedHashMap<ResourceName, Lane> idle = new LinkedHashMap<>();

    void submit(Context context, ResourceName resource, Call call) {
        Lane lane;
        synchronized (this) {
            Lane known = used.get(resource);
            if (known == null) {
                known = idle.remove(resource);
                lane = known == null ? new Lane(context, resource) : known;
                used.put(resource, lane);
            } else {
                lane = known;
            }
            lane.add(call);
        }
        if (call.isUrgent()) {
            lane.endPause();
        }
        lane.run();
    }

    /** Lets a lane rest in which nothing is to be done, and that has no claim of this client. */
    synchronized void rest(Lane lane) {
        if (lane.isIdle() && used.remove(lane.resource(), lane)) {
            idle.put(lane.resource(), lane);
            if (idle.size() > MOST_IDLE) {
                var oldest = idle.keySet().iterator();
                oldest.next();
                oldest.remove();
            }
        }
    }

    /** Another client has written the record of a resource, and told this one. */
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
     * Another client has announced a claim, and notified this one.
     *
     * @param oldest the oldest claim of its session that waits so
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

    /** All that mail about a resource says is known: who waited for some goes on. */
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
