package dev.holdfast.sql.rows;

import dev.holdfast.spi.ResourceName;
import java.util.List;

/**
 * A row of one of our tables, whose key is a name.
 *
 * @param table the table, with its schema if it has one
 * @param columns the columns to read, which a new row has in addition to its name
 * @param initial their values in a new row
 * @param touched a column that is written to lock the row
 * @param touch the expression to write, which follows the column name
 */
record NamedRow(String table, ResourceName name, String columns, String initial, String touched, String touch) {

    /** The key, as statement parameters. */
    List<byte[]> key() {
        return List.of(name.utf8());
    }

    /**
     * The row of a named lock. Its uses are counted, so that the database can detect a transaction whose snapshot is
     * older than the last holder's commit.
     */
    static NamedRow lock(RowTables tables, ResourceName name) {
        return new NamedRow(tables.rowLock(), name, "uses", "1", "uses", " + 1");
    }

    static NamedRow fence(RowTables tables, ResourceName name) {
        return new NamedRow(tables.fence(), name, "token, hold", "0, ''", "token", "");
    }
}
