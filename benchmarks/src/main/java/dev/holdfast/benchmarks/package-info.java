/** Measurements of Holdfast, and of others on the same stores. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
