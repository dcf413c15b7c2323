/** Semaphores. */
@NullMarked
package dev.holdfast.engine.semaphore;

import org.jspecify.annotations.NullMarked;
