package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.Identifiers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One row of a table of yours, identified by columns that are unique together.
 *
 * <p>Names of tables and columns are checked and quoted, so write them as the database stores them: on PostgreSQL in
 * lower case, unless the table was created with quotes. Do not use user input as names; values may come from users.
 */
public final class TableRow {

    private final String table;
    private final Map<String, Object> key;

    private TableRow(String table, Map<String, Object> key) {
        this.table = table;
        this.key = key;
    }

    /**
     * A row.
     *
     * @param table the table, with or without its schema: {@code account}, {@code shop.account}
     * @param column the column of the primary key, or another unique one
     * @param value its value, in a type that the driver accepts in {@link java.sql.PreparedStatement#setObject(int,
     *     Object)}
     * @throws IllegalArgumentException if a name has characters other than letters, digits and {@code _}
     */
    public static TableRow of(String table, String column, Object value) {
        String checked =
                Stream.of(table.split("\\.", 2)).map(Identifiers::checked).collect(Collectors.joining("."));
        return new TableRow(checked, Map.of()).and(column, value);
    }

    /** This row, with one more column in the key. */
    public TableRow and(String column, Object value) {
        Map<String, Object> longer = new LinkedHashMap<>(key);
        if (longer.put(Identifiers.checked(column), Objects.requireNonNull(value)) != null) {
            throw new IllegalArgumentException("The column " + column + " is named twice");
        }
        return new TableRow(table, longer);
    }

    String table() {
        return table;
    }

    /** The columns with their values, in the order of the calls. */
    Map<String, Object> key() {
        return key;
    }

    /** A description for messages. */
    @Override
    public String toString() {
        return table + key;
    }
}
