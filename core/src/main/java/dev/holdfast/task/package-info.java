/**
 * Scheduled tasks that run once for each occasion, whatever the number of processes. Start at {@link
 * dev.holdfast.Holdfast#task}.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.task;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
