/** Operators' functions: inspection, forced release, and the state and health of a client. */
@NullMarked
@CheckReturnValue
package dev.holdfast.engine.admin;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
