/** Calls of etcd over gRPC: what is sent, what is answered, over which connection, and what a failure means. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
