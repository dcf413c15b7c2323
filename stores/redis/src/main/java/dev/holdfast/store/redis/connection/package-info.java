/** Connections to Redis servers: how they are made, kept, secured, and shared by the stores of a process. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.redis.connection;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
