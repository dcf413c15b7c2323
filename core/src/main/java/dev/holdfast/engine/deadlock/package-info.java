/** Detection of deadlocks between processes: a pure state machine over what clients state about their waits. */
@NullMarked
package dev.holdfast.engine.deadlock;

import org.jspecify.annotations.NullMarked;
