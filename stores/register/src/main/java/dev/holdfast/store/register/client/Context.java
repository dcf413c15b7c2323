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
 * The state that all parts of one store share.
 *
 * @param adapter the server
 * @param environment time and random numbers
 */
record Context(
        RegisterAdapter adapter,
        Environment environment,
        Sessions sessions,
        Watches watches,
        Listeners listeners,
        LaneDirectory lanes,
        GuessHistory guesses,
        ContentionRules rules) {

    static Context of(RegisterAdapter adapter, Environment environment, LaneDirectory lanes, ContentionRules rules) {
        return new Context(
                adapter,
                environment,
                new Sessions(),
                new Watches(adapter),
                new Listeners(),
                lanes,
                new GuessHistory(),
                rules);
    }

    long now() {
        return environment.monotonicNanos();
    }

    /** A random number from 0 to a bound, inclusive. */
    long upTo(long bound) {
        return bound <= 0 ? 0 : Math.floorMod(environment.randomLong(), bound + 1);
    }

    /** Executes a call on a resource, after the calls before it. */
    CompletionStage<Reply> submit(ResourceName resource, LaneCall call) {
        lanes.submit(this, resource, call);
        return call.reply();
    }

    /** Notes that a session or lease has ended, and notifies the lanes. */
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

    /** Notes the remaining times of sessions from the answer to a query that was sent at this time. */
    void remaining(Map<SessionId, Duration> left, long askedAt) {
        left.forEach((id, duration) -> sessions.left(id, duration, askedAt));
    }
}
