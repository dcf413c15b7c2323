package dev.holdfast.store.jdbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.sql.SQLException;
import java.util.List;

/** Tells what the statements on a database have cost, in the words of its server. */
interface StatementCosts {

    /** Of those that were carried out since the last call. */
    @CanIgnoreReturnValue
    List<StatementCost> next() throws SQLException;
}
