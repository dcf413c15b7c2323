package dev.holdfast.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * How observations of locks are named and tagged; one that is given to {@link HoldfastObservations} replaces the
 * {@linkplain DefaultLockObservationConvention default}.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }
}
