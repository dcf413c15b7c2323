/** Locks on Redis and on what speaks as it does. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.redis;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
