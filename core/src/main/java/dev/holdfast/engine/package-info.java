/**
 * The engine behind {@link dev.holdfast.Holdfast}: resources, sessions, leases. No promises to anyone outside this
 * module.
 */
@NullMarked
package dev.holdfast.engine;

import org.jspecify.annotations.NullMarked;
