/** What becomes of the annotations: they are read and checked when a bean is made, and carried out by interceptors. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.advice;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
