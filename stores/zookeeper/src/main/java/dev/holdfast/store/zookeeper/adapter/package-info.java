/** The nodes that a store on ZooKeeper keeps, and what it does with them. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.zookeeper.adapter;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
