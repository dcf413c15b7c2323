/** PostgreSQL. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.jdbc.postgres;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
