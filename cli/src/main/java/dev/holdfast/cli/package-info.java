/** The {@code holdfast} command: its command line, and what looks at locks. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
