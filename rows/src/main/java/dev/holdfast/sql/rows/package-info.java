/** Row locks, optimistic versions and the fence guard, inside of a transaction of the program. */
@NullMarked
@CheckReturnValue
package dev.holdfast.sql.rows;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
