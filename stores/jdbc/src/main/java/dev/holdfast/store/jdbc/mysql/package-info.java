/** MySQL and MariaDB. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.jdbc.mysql;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
