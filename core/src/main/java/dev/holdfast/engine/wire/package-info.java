/** Sends commands to the store: each has a send time, a time-out and exactly one reply or failure. */
@NullMarked
package dev.holdfast.engine.wire;

import org.jspecify.annotations.NullMarked;
