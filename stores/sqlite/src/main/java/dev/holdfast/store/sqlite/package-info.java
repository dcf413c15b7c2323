/** Leases in a SQLite file. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.sqlite;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
