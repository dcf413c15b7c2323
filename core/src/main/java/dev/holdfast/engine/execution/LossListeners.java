package dev.holdfast.engine.execution;

import dev.holdfast.Hold;
import dev.holdfast.Loss;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners for the loss of one hold: those of users, which run on the executor for loss listeners, and reactions
 * of the engine, which run at once. Not thread-safe: guarded by the lock of the resource.
 */
public final class LossListeners {
    private static final Logger log = LoggerFactory.getLogger(LossListeners.class);

    private final List<Listener> listeners = new ArrayList<>(1);

    /** A listener, and the handle through which it was added: that of the hold, or a nested one. */
    private record Listener(Hold handle, Consumer<Loss> action, Audience audience) {}

    public void add(Hold handle, Consumer<Loss> action, Audience audience) {
        listeners.add(new Listener(handle, action, audience));
    }

    /** Removes the listeners of a handle that was closed. */
    public void remove(Hold handle) {
        listeners.removeIf(listener -> listener.handle == handle);
    }

    /** Notifies the listeners of one audience, when no lock is held. */
    public void notify(Audience audience, Loss lost, Callbacks callbacks, DeferredActions deferred) {
        for (Listener listener : listeners) {
            if (listener.audience == audience) {
                deferred.add(() -> notify(listener.action, audience, lost, callbacks));
            }
        }
    }

    /** Notifies one listener. Called without any lock. */
    public static void notify(Consumer<Loss> action, Audience audience, Loss lost, Callbacks callbacks) {
        if (audience == Audience.ENGINE) {
            action.accept(lost);
            return;
        }
        callbacks.runListener(() -> {
            try {
                action.accept(lost);
            } catch (RuntimeException | Error e) {
                log.warn("resource={} token={} a loss listener failed", lost.name(), lost.token(), e);
            }
        });
    }
}
