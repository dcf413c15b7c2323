package dev.holdfast.micrometer;

import dev.holdfast.micrometer.LockObservation.HighCardinality;
import dev.holdfast.micrometer.LockObservation.LowCardinality;
import io.micrometer.common.KeyValues;

/**
 * The default names and tags of observations of locks. The name of the lock has high cardinality, so that spans have it
 * and meters do not. A subclass may make it a tag of meters if there are few names.
 */
public abstract class DefaultLockObservationConvention implements LockObservationConvention {

    private final String name;
    private final String verb;

    private DefaultLockObservationConvention(String name, String verb) {
        this.name = name;
        this.verb = verb;
    }

    @Override
    public String getName() {
        return name;
    }

    /** Such as {@code wait nightly-report}. */
    @Override
    public String getContextualName(LockObservationContext context) {
        return verb + " " + context.request().name();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
        return KeyValues.of(
                LowCardinality.KIND.withValue(TagValue.of(context.request().kind())),
                LowCardinality.OUTCOME.withValue(context.outcome()),
                LowCardinality.STORE.withValue(context.request().store()));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
        String token =
                context.token().isPresent() ? Long.toString(context.token().getAsLong()) : "none";
        return KeyValues.of(
                HighCardinality.LOCK.withValue(context.request().name()),
                HighCardinality.TOKEN.withValue(token),
                HighCardinality.WEIGHT.withValue(
                        Integer.toString(context.request().weight())));
    }

    /** Of waits: {@code holdfast.lock.wait}. */
    public static class Wait extends DefaultLockObservationConvention {
        /** The default. */
        public Wait() {
            super("holdfast.lock.wait", "wait");
        }
    }

    /** Of holds: {@code holdfast.lock.hold}. */
    public static class Hold extends DefaultLockObservationConvention {
        /** The default. */
        public Hold() {
            super("holdfast.lock.hold", "hold");
        }
    }
}
