/** The tables of the ledger: their rows, and the statements that read and write them. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.ledger.table;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
