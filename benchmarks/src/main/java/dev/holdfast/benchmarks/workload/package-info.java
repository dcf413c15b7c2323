/** Workloads: a question, the cells that are run to answer it, and the figures read from their measurements. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.workload;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
