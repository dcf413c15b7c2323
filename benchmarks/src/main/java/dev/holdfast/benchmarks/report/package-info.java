/** The results of a run, the tables that show them, and what they were measured on. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.report;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
