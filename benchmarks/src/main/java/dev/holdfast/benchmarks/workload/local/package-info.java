/** Workloads that need no server: in memory, and on SQLite. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.workload.local;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
