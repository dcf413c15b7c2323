/** What is measured beside Holdfast: locks of others, and locks by hand. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.contestant.peer;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
