/** Transactions, connections and housekeeping on a server, whatever its product. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.jdbc.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
