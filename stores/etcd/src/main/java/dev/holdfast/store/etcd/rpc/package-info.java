/** Calls of etcd over gRPC: requests, answers, connections, and the meaning of failures. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.etcd.rpc;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
