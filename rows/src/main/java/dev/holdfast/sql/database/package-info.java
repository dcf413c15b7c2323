/** Database products as drivers and pools show them: error codes, data sources, connections, identifiers. */
@NullMarked
@CheckReturnValue
package dev.holdfast.sql.database;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
