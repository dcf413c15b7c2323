/** Runs work under locks, for annotated methods and for the template. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.execution;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
