/** Work under locks, for methods with an annotation and for the template alike. */
@NullMarked
@CheckReturnValue
package dev.holdfast.spring.execution;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
