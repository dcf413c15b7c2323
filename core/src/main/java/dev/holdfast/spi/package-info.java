/** The SPI: what the author of a store implements. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spi;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
