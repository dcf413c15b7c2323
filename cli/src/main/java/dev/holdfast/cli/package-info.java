/** The {@code holdfast} command: its command line, and the commands that inspect and release locks. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
