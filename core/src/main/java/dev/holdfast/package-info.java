/**
 * Locks that hold across processes and machines, on the store that is already there. Start at {@link
 * dev.holdfast.Holdfast}.
 */
@NullMarked
@CheckReturnValue
package dev.holdfast;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
