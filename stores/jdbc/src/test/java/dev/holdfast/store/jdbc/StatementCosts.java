package dev.holdfast.store.jdbc;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.sql.SQLException;
import java.util.List;

/** Reports the costs of the statements on a database, according to its server. */
interface StatementCosts {

    /** The costs of the statements executed since the last call. */
    @CanIgnoreReturnValue
    List<StatementCost> next() throws SQLException;
}
