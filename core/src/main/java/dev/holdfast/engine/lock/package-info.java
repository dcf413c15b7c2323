/** Locks and read-write locks. */
@NullMarked
package dev.holdfast.engine.lock;

import org.jspecify.annotations.NullMarked;
