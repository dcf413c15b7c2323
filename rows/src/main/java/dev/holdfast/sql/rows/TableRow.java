package dev.holdfast.sql.rows;

import dev.holdfast.sql.database.Identifiers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One row of a table of yours, by the columns that tell it from all others.
 *
 * <p>Names of tables and columns are checked and quoted, so they are written as the database keeps them: on PostgreSQL
 * in lower case, unless the table was made with quotes. They are no place for what comes from users; the values are.
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
     * @param column the column of the primary key, or another that has no value twice
     * @param value what stands there, as the driver takes it by
     *     {@link java.sql.PreparedStatement#setObject(int, Object)}
     * @throws IllegalArgumentException if a name is not made of letters, digits and {@code _}
     */
    public static TableRow of(String table, String column, Object value) {
        String checked =
                Stream.of(table.split("\\.", 2)).map(Identifiers::checked).collect(Collectors.joining("."));
        return new TableRow(checked, Map.of()).and(column, value);
    }

    /** The same, where the key has one more column. */
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

    /** The columns with their values, in the order in which they were named. */
    Map<String, Object> key() {
        return key;
    }

    /** For people. */
    @Override
    public String toString() {
        return table + key;
    }
}
