/** Count-down latches. */
@NullMarked
package dev.holdfast.engine.latch;

import org.jspecify.annotations.NullMarked;
