/** Which server serves which bucket: a single primary, one that Sentinels name, or the nodes of a cluster. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.redis.topology;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
