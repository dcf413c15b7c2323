/** Locks on ZooKeeper. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.zookeeper;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
