/** The API: locks that hold across processes and machines. */
@NullMarked
@CheckReturnValue
package dev.holdfast;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
