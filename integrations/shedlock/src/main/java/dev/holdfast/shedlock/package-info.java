/** A lock provider of ShedLock on the scheduled tasks of Holdfast. */
@NullMarked
@CheckReturnValue
package dev.holdfast.shedlock;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
