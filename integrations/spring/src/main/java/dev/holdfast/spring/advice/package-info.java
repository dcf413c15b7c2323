/** Reads and checks annotations when a bean is created, and applies them by interceptors. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.advice;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
