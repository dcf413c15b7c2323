package dev.holdfast.engine.observe;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Deadlock;
import dev.holdfast.HoldfastListener;
import dev.holdfast.HoldfastListener.AcquireRequest;
import dev.holdfast.HoldfastListener.AcquireRequest.Call;
import dev.holdfast.HoldfastListener.SessionEvent;
import dev.holdfast.HoldfastListener.StoreCall;
import dev.holdfast.Loss;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.ResourceName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/** The observers of a client: its listeners, and a flight recording while there is one. Immutable. */
public final class ClientObservers {

    private final List<HoldfastListener> listeners;
    private final String store;

    public ClientObservers(List<HoldfastListener> listeners, String store) {
        this.listeners = List.copyOf(listeners);
        this.store = store;
    }

    /**
     * Begins to observe an acquisition; null if there is no observer.
     *
     * @throws AssertionError if a listener rejects it
     */
    @Nullable
    public AcquisitionObserver begin(ResourceName name, Kind kind, int weight, Call call) {
        // Before the first recording, no class of the recorder but this one is loaded.
        boolean isRecording = FlightRecorder.isInitialized();
        if (listeners.isEmpty() && !isRecording) {
            return null;
        }
        AcquireRequest request = new AcquireRequest(name.value(), kind, weight, store, call);
        if (listeners.size() == 1 && !isRecording) {
            // The common case, without a list.
            AcquisitionListener only = ask(listeners.get(0), request);
            return only == null ? null : new AcquisitionObserver(only);
        }
        List<AcquisitionListener> observing = new ArrayList<>(listeners.size() + 1);
        if (isRecording) {
            observing.add(new JfrEvents(request));
        }
        for (HoldfastListener listener : listeners) {
            AcquisitionListener one;
            try {
                one = ask(listener, request);
            } catch (AssertionError e) {
                new SeveralListeners(observing).onNotGranted(WaitEnd.FAILED);
                throw e;
            }
            if (one != null) {
                observing.add(one);
            }
        }
        return observing.isEmpty() ? null : new AcquisitionObserver(new SeveralListeners(observing));
    }

    private static @Nullable AcquisitionListener ask(HoldfastListener listener, AcquireRequest request) {
        try {
            return listener.onRequested(request);
        } catch (RuntimeException | Error e) {
            if (e instanceof AssertionError rejection && request.call() != Call.ASYNC) {
                throw rejection;
            }
            AcquisitionObserver.log(e);
            return null;
        }
    }

    private static void guarded(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            AcquisitionObserver.log(e);
        }
    }

    /** Whether there are listeners; otherwise nothing is measured. */
    public boolean hasListeners() {
        return !listeners.isEmpty();
    }

    /** Reports an event of a session. Called without any lock of the engine. */
    public void session(SessionEvent.Type type, int partition) {
        session(type, partition, Optional.empty());
    }

    /** Reports the loss of a session. Called without any lock of the engine. */
    public void sessionLost(int partition, Loss.Cause cause) {
        session(SessionEvent.Type.LOST, partition, Optional.of(cause));
    }

    private void session(SessionEvent.Type type, int partition, Optional<Loss.Cause> cause) {
        if (hasListeners()) {
            SessionEvent event = new SessionEvent(type, store, partition, cause);
            for (HoldfastListener listener : listeners) {
                guarded(() -> listener.onSession(event));
            }
        }
    }

    /** Reports a deadlock, to each listener on an executor. Called without any lock of the engine. */
    public void deadlock(Deadlock deadlock, Executor executor) {
        if (FlightRecorder.isInitialized()) {
            JfrEvents.record(deadlock, store);
        }
        for (HoldfastListener listener : listeners) {
            executor.execute(() -> guarded(() -> listener.onDeadlock(deadlock)));
        }
    }

    /** Reports the end of a run of a task. Called without any lock of the engine. */
    public void taskRun(ResourceName task, RecordedRun run) {
        for (HoldfastListener listener : listeners) {
            guarded(() -> listener.onTaskRun(task.value(), run));
        }
    }

    /** Reports the end of a command. Called without any lock of the engine. */
    public void called(Command command, long nanos, StoreCall.Outcome outcome) {
        StoreCall call = new StoreCall(command.accept(CommandName.INSTANCE), store, Duration.ofNanos(nanos), outcome);
        for (HoldfastListener listener : listeners) {
            guarded(() -> listener.onStoreCall(call));
        }
    }
}
