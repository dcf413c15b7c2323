/**
 * The entry point of the engine behind {@link dev.holdfast.Holdfast}: opens and closes a client, and makes its
 * primitives, which have their own packages. Internal to this module.
 */
@NullMarked
package dev.holdfast.engine;

import org.jspecify.annotations.NullMarked;
