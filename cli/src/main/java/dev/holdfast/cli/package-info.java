/** The {@code holdfast} command. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
