/** Requests to an ensemble through a handle of the store's own, or one that the program lends. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.zookeeper.client;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
