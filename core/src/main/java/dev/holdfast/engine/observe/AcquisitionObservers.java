package dev.holdfast.engine.observe;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.HoldfastListener;
import dev.holdfast.HoldfastListener.AcquireRequest;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.ResourceName;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/** The observers of a client: its listeners, and a flight recording while there is one. Immutable. */
public final class AcquisitionObservers {

    private final List<HoldfastListener> listeners;
    private final String store;

    public AcquisitionObservers(List<HoldfastListener> listeners, String store) {
        this.listeners = List.copyOf(listeners);
        this.store = store;
    }

    /** Begins to observe an acquisition; null if nobody does. */
    @Nullable
    public AcquisitionObserver begin(ResourceName name, Kind kind, int weight) {
        // Before the first recording nothing of the recorder is loaded but this class.
        boolean isRecording = FlightRecorder.isInitialized();
        if (listeners.isEmpty() && !isRecording) {
            return null;
        }
        AcquireRequest request = new AcquireRequest(name.value(), kind, weight, store);
        List<AcquisitionListener> observing = new ArrayList<>(listeners.size() + 1);
        if (isRecording) {
            observing.add(new JfrEvents(request));
        }
        for (HoldfastListener listener : listeners) {
            AcquisitionObserver.guarded(() -> {
                AcquisitionListener one = listener.onRequested(request);
                if (one != null) {
                    observing.add(one);
                }
            });
        }
        return observing.isEmpty() ? null : new AcquisitionObserver(observing);
    }
}
