/** Input and output for people and scripts: streams, text that is safe to print, durations, JSON, exit codes. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli.console;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
