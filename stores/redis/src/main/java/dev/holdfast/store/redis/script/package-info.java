/** The script that the servers run: its calls, its replies, and the layout of its keys. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.redis.script;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
