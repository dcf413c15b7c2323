/**
 * Meters and observations of locks. Start at {@link dev.holdfast.micrometer.HoldfastMetrics} for meters, and at {@link
 * dev.holdfast.micrometer.HoldfastObservations} for traces.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.micrometer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
