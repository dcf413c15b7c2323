/** Stores on relational databases. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.sql;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
