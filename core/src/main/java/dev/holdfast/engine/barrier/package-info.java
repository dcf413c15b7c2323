/** Double barriers, made of a semaphore, a latch and a lock. */
@NullMarked
package dev.holdfast.engine.barrier;

import org.jspecify.annotations.NullMarked;
