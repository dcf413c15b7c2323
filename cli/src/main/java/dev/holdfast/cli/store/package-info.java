/** Which store is meant, how it is opened, and how it is asked about locks. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli.store;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
