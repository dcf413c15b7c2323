/** The state machine of one resource: its state, how that is encoded, and what each command does to it. Pure. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.register.machine;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
