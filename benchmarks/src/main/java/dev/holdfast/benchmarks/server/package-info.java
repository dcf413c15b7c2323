/** Real servers, and what they count of themselves. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
