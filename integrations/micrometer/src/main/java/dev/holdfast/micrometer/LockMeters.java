package dev.holdfast.micrometer;

import dev.holdfast.AcquisitionListener.GrantSource;
import dev.holdfast.AcquisitionListener.WaitEnd;
import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;

/**
 * The meters of one kind of lock, or of one listed lock, all created at once: a series that exists from the start shows
 * its first increase. Immutable.
 */
final class LockMeters {

    private final Map<GrantSource, Outcome> granted = new EnumMap<>(GrantSource.class);
    private final Map<WaitEnd, Outcome> notGranted = new EnumMap<>(WaitEnd.class);
    private final Map<ReleaseOutcome, Timer> holdTimes = new EnumMap<>(ReleaseOutcome.class);
    private final Map<Loss.Cause, Counter> lost = new EnumMap<>(Loss.Cause.class);

    LockMeters(MeterRegistry registry, Tags tags) {
        for (GrantSource source : GrantSource.values()) {
            granted.put(source, new Outcome(registry, tags.and("outcome", TagValue.of(source))));
        }
        for (WaitEnd end : WaitEnd.values()) {
            notGranted.put(end, new Outcome(registry, tags.and("outcome", TagValue.of(end))));
        }
        // No acquisition ends as still held, which is the outcome of a nested release.
        for (ReleaseOutcome outcome : EnumSet.complementOf(EnumSet.of(ReleaseOutcome.STILL_HELD))) {
            holdTimes.put(
                    outcome,
                    Timer.builder("holdfast.hold")
                            .description("Time from the grant of a lock to its release")
                            .tags(tags.and("outcome", TagValue.of(outcome)))
                            .register(registry));
        }
        for (Loss.Cause cause : Loss.Cause.values()) {
            lost.put(
                    cause,
                    Counter.builder("holdfast.losses")
                            .description("Holds that ended before their owners released them")
                            .tags(tags.and("cause", TagValue.of(cause)))
                            .register(registry));
        }
    }

    /** The number of granted requests. */
    long granted() {
        return granted.values().stream().mapToLong(Outcome::requests).sum();
    }

    /** The number of ended requests. */
    long ended() {
        return granted()
                + notGranted.values().stream().mapToLong(Outcome::requests).sum();
    }

    Outcome granted(GrantSource source) {
        return of(granted, source);
    }

    Outcome notGranted(WaitEnd end) {
        return of(notGranted, end);
    }

    Timer holdTime(ReleaseOutcome outcome) {
        return of(holdTimes, outcome);
    }

    Counter lost(Loss.Cause cause) {
        return of(lost, cause);
    }

    private static <K extends Enum<K>, V> V of(Map<K, V> meters, K key) {
        V meter = meters.get(key);
        if (meter == null) {
            throw new IllegalStateException(
                    "There is a meter for each " + key.getDeclaringClass() + ", but not for " + key);
        }
        return meter;
    }
}
