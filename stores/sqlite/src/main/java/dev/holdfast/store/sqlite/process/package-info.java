/** Processes and the machine that they run on, as Linux shows them. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.sqlite.process;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
