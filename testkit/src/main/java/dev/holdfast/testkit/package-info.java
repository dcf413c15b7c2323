/** The conformance suite for stores, the simulation and the history checker. */
@NullMarked
@CheckReturnValue
package dev.holdfast.testkit;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
