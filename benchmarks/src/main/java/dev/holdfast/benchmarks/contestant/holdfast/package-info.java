/** Holdfast on its stores, as it is measured. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.contestant.holdfast;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
