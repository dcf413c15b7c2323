/**
 * A deterministic simulation of whole clients, a network and one store on virtual time: one thread, one seed, the same
 * run every time.
 *
 * <p>{@link dev.holdfast.testkit.sim.Simulation} runs one seed; {@link dev.holdfast.testkit.sim.Seeds} runs many and
 * judges the whole.
 */
@NullMarked
package dev.holdfast.testkit.sim;

import org.jspecify.annotations.NullMarked;
