/** Workloads on a server, where Holdfast meets others. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.workload.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
