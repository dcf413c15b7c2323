/** What every measurement is made with: windows, threads that lock, what they protect, and JVMs of their own. */
@NullMarked
@CheckReturnValue
package dev.holdfast.benchmarks.harness;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
