/**
 * For authors of stores. A store is a state machine that answers {@linkplain dev.holdfast.spi.Command commands};
 * retries, keep-alives, local hand-off and metrics live above it, once, in the engine.
 *
 * <p>Start at {@link dev.holdfast.spi.LockStore}. The executable specification is the reference store in the module
 * {@code holdfast-memory}; the conformance kit in {@code holdfast-testkit} says whether a store keeps the rules.
 * Helpers that a store may use are in {@link dev.holdfast.spi.support}.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
