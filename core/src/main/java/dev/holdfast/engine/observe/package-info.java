/** Tells listeners and the flight recorder what becomes of acquisitions. */
@NullMarked
package dev.holdfast.engine.observe;

import org.jspecify.annotations.NullMarked;
