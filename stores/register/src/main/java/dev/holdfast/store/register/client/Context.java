package dev.holdfast.store.register.client;

import dev.holdfast.Environment;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.support.Listeners;
import dev.holdfast.store.register.RegisterAdapter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * What all parts of one store share.
 *
 * @param adapter the server
 * @param environment time and chance
 */
record Context(
        RegisterAdapter adapter,
        Environment environment,
        Sessions sessions,
        Watches watches,
        Listeners listeners,
        Lanes lanes) {

    static Context of(RegisterAdapter adapter, Environment environment) {
        return new Context(adapter, environment, new Sessions(), new Watches(adapter), new Listeners(), new Lanes());
    }

    long now() {
        return environment.monotonicNanos();
    }

    /** A random number from 0 to a bound, inclusive. */
    long upTo(long bound) {
        return bound <= 0 ? 0 : Math.floorMod(environment.randomLong(), bound + 1);
    }

    /** Does something on a resource after what was given before. */
    CompletionStage<Reply> submit(ResourceName resource, Call call) {
        lanes.submit(this, resource, call);
        return call.reply();
    }

    /** Notes that a session or lease has ended, and lets those go on who waited for that. */
    void gone(SessionId id) {
        if (sessions.isGone(id)) {
            return;
        }
        boolean wasOwn = sessions.ended(id);
        if (wasOwn) {
            listeners.accept(new Signal.SessionEnded(id));
        }
        lanes.gone(id, wasOwn);
    }

    /** Notes what is left of sessions, as the server told it in answer to a question sent at this time. */
    void remaining(Map<SessionId, Duration> left, long askedAt) {
        left.forEach((id, duration) -> sessions.left(id, duration, askedAt));
    }
}
