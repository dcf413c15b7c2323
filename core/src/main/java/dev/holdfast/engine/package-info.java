/** The engine between API and SPI; no promises, not exported. */
@NullMarked
@CheckReturnValue
package dev.holdfast.engine;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
