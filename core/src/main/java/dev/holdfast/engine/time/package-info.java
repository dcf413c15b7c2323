/** Elapsed time, waits with a limit, and pauses between attempts. */
@NullMarked
package dev.holdfast.engine.time;

import org.jspecify.annotations.NullMarked;
