/**
 * The entrance of the engine behind {@link dev.holdfast.Holdfast}: opens and closes a client, and makes its primitives,
 * which have packages of their own. No promises to anyone outside this module.
 */
@NullMarked
package dev.holdfast.engine;

import org.jspecify.annotations.NullMarked;
