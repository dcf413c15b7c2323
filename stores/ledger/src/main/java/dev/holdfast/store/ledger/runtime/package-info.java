/** Threads, clocks and signals of a store. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.ledger.runtime;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
