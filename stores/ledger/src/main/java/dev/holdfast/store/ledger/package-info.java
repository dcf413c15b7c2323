/** The ledger of leases in the tables of a database: what each command does to it, inside of one transaction. */
@NullMarked
@CheckReturnValue
package dev.holdfast.store.ledger;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
