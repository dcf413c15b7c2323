/** Guards of scheduled tasks. */
@NullMarked
package dev.holdfast.engine.task;

import org.jspecify.annotations.NullMarked;
