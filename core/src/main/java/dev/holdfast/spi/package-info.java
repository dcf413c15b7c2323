/**
 * For authors of stores. A store is a state machine that answers {@linkplain dev.holdfast.spi.Command commands};
 * retries, keep-alives, local hand-over and metrics exist once, in the engine above it.
 *
 * <p>Start at {@link dev.holdfast.spi.LockStore}. The executable specification is the reference store in the module
 * {@code holdfast-memory}; the conformance kit in {@code holdfast-testkit} checks whether a store keeps the rules.
 * Helpers that a store may use are in {@link dev.holdfast.spi.support}.
 */
@NullMarked
package dev.holdfast.spi;

import org.jspecify.annotations.NullMarked;
