/** Leases on a database server. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.jdbc;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
