/** The register adapter for ZooKeeper, and its nodes. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.zookeeper.adapter;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
