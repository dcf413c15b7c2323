/** What operators ask: who holds and waits, the end of a hold by force, the state and health of a client. */
@NullMarked
@CheckReturnValue
package dev.holdfast.engine.admin;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
