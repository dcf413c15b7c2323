/** {@code holdfast top}: the state of a store on a terminal, as it changes. */
@NullMarked
@CheckReturnValue
package dev.holdfast.cli.top;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
