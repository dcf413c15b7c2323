/** A server of registers in memory, with a clock that tests move. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.register.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
