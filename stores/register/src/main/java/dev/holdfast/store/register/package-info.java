/** Registers: one record per resource, replaced by compare-and-set, on a server that offers little else. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.register;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
