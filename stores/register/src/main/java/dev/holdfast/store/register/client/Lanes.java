package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.RecordVersion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of the resources that this client uses, and of some that it used recently, whose records it remembers.
 * Thread-safe.
 */
final class Lanes implements LaneDirectory {

    /** The most memory of idle lanes: about 18,000 with short names. Other records are guessed or read again. */
    private static final int MOST_IDLE_BYTES = 8 << 20;

    /**
     * The most memory of lanes in which this client holds something and nothing happens: about 1,000. A client may hold
     * a million locks. The release of any other lock reads the record first, and at the end of the session the clients
     * that wait for it act without this one.
     */
    private static final int MOST_HELD_BYTES = 1 << 19;

    @GuardedBy("this")
    private final Map<ResourceName, Lane> used = new HashMap<>();

    @GuardedBy("this")
    private final Resting idle = new Resting(MOST_IDLE_BYTES);

    @GuardedBy("this")
    private final Resting holding = new Resting(MOST_HELD_BYTES);

    /** Lanes without calls, in the order in which they came to rest. Of too many, the oldest are forgotten. */
    private static final class Resting {
        private final LinkedHashMap<ResourceName, Lane> lanes = new LinkedHashMap<>();
        private final int mostBytes;
        private int bytes;

        Resting(int mostBytes) {
            this.mostBytes = mostBytes;
        }

        void add(Lane lane) {
            lanes.put(lane.resource(), lane);
            bytes += lane.bytes();
            for (var oldest = lanes.values().iterator(); bytes > mostBytes; oldest.remove()) {
                bytes -= oldest.next().bytes();
            }
        }

        @Nullable
        Lane remove(ResourceName resource) {
            Lane lane = lanes.remove(resource);
            bytes -= lane == null ? 0 : lane.bytes();
            return lane;
        }
    }

    @Override
    public void submit(Context context, ResourceName resource, LaneCall call) {
        Lane lane;
        synchronized (this) {
            lane = used.get(resource);
            if (lane == null) {
                lane = holding.remove(resource);
                lane = lane == null ? idle.remove(resource) : lane;
                lane = lane == null ? new Lane(context, resource) : lane;
                used.put(resource, lane);
            }
            lane.add(call);
        }
        if (call.isUrgent()) {
            lane.endPause();
        }
        lane.run(call);
    }

    @Override
    public synchronized void rest(ResourceName resource) {
        Lane lane = used.get(resource);
        if (lane != null && lane.isQuiet()) {
            used.remove(resource);
            (lane.isUnused() ? idle : holding).add(lane);
        }
    }

    @GuardedBy("this")
    private @Nullable Lane find(ResourceName resource) {
        Lane lane = used.get(resource);
        lane = lane == null ? holding.lanes.get(resource) : lane;
        return lane == null ? idle.lanes.get(resource) : lane;
    }

    /** Notes that another client has written the record of a resource. */
    void written(ResourceName resource, RecordVersion version, Optional<byte[]> state) {
        Lane lane;
        synchronized (this) {
            lane = find(resource);
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
            lane = find(resource);
        }
        if (lane != null) {
            lane.contention().notices().add(arrival, oldest, now);
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

    @Override
    public void gone(SessionId id, boolean wasOwn) {
        List<Lane> touched = new ArrayList<>();
        synchronized (this) {
            touched.addAll(used.values());
            touched.addAll(holding.lanes.values());
        }
        touched.forEach(lane -> lane.gone(id, wasOwn));
    }
}
