/** Tells listeners what becomes of acquisitions, sessions and commands, and the flight recorder of acquisitions. */
@NullMarked
package dev.holdfast.engine.observe;

import org.jspecify.annotations.NullMarked;
