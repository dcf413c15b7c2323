package dev.holdfast.micrometer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names and tags of observations of locks; a convention passed to {@link HoldfastObservations} replaces the {@linkplain
 * DefaultLockObservationConvention default}.
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LockObservationContext;
    }
}
