/** Finds and opens the store of a command, and inspects its locks. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli.store;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
