/**
 * Scheduled tasks that only one of several processes runs at a time. Start at {@link dev.holdfast.Holdfast#task}.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast.task;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
