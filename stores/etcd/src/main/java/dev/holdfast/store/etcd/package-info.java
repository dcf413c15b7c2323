/** Locks on etcd. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.etcd;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
