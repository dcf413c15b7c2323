/** The reference store, in memory: the executable specification of what a store does. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
