package dev.holdfast.engine.observe;

import dev.holdfast.HoldfastListener;
import dev.holdfast.HoldfastListener.Acquisition;
import dev.holdfast.HoldfastListener.Asked;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/** Finds out whether anybody looks on: listeners, or a flight recording. Immutable. */
public final class AcquisitionObservers {

    private final List<HoldfastListener> listeners;
    private final String store;

    public AcquisitionObservers(List<HoldfastListener> listeners, String store) {
        this.listeners = List.copyOf(listeners);
        this.store = store;
    }

    /** Begins to tell of an acquisition; null if nobody looks on. */
    @Nullable
    public AcquisitionObserver begin(ResourceName name, Kind kind, int weight) {
        // Before the first recording nothing of the recorder is loaded but this class.
        boolean isRecording = FlightRecorder.isInitialized();
        if (listeners.isEmpty() && !isRecording) {
            return null;
        }
        Asked asked = new Asked(name.value(), kind, weight, store);
        List<Acquisition> told = new ArrayList<>(listeners.size() + 1);
        if (isRecording) {
            told.add(new JfrEvents(asked));
        }
        for (HoldfastListener listener : listeners) {
            AcquisitionObserver.guarded(() -> {
                Acquisition one = listener.asked(asked);
                if (one != null) {
                    told.add(one);
                }
            });
        }
        return told.isEmpty() ? null : new AcquisitionObserver(told);
    }
}
