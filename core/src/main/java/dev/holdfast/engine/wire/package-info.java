/** The way to the store: every command gets a send time, a time-out and exactly one answer. */
@NullMarked
package dev.holdfast.engine.wire;

import org.jspecify.annotations.NullMarked;
