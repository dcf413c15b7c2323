package dev.holdfast.sql.rows;

import dev.holdfast.spi.ResourceName;
import java.util.List;

/**
 * A row of one of our tables, whose key is a name.
 *
 * @param table the table, with its schema if it has one
 * @param columns what is read, and what a new row has besides its name
 * @param initial what stands there in a new row
 * @param touched a column that is written to lock the row
 * @param touch what is written there, after the column with or without its table
 */
record NamedRow(String table, ResourceName name, String columns, String initial, String touched, String touch) {

    /** The key, for a statement. */
    List<byte[]> key() {
        return List.of(name.utf8());
    }

    /**
     * A lock by name. It is counted, so that a transaction that has seen an older state than the last holder's is found
     * out where the database can.
     */
    static NamedRow lock(RowTables tables, ResourceName name) {
        return new NamedRow(tables.rowLock(), name, "uses", "1", "uses", " + 1");
    }

    static NamedRow fence(RowTables tables, ResourceName name) {
        return new NamedRow(tables.fence(), name, "token, hold", "0, ''", "token", "");
    }
}
