package dev.holdfast.store.sql;

import dev.holdfast.spi.ResourceName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One row of a table of yours, by the columns that tell it from all others.
 *
 * <p>Names of tables and columns are checked and quoted, so they are written as the database keeps them: on PostgreSQL
 * in lower case, unless the table was made with quotes. They are no place for what comes from users; the values are.
 */
public final class TableRow {

    private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

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
        String checked = Stream.of(table.split("\\.", 2)).map(TableRow::check).collect(Collectors.joining("."));
        return new TableRow(checked, Map.of()).and(column, value);
    }

    /** The same, where the key has one more column. */
    public TableRow and(String column, Object value) {
        Map<String, Object> longer = new LinkedHashMap<>(key);
        if (longer.put(check(column), Objects.requireNonNull(value)) != null) {
            throw new IllegalArgumentException("The column " + column + " is named twice");
        }
        return new TableRow(table, longer);
    }

    /**
     * Lets a name through that can stand in a statement.
     *
     * @throws IllegalArgumentException if it is none
     */
    static String check(String identifier) {
        if (!IDENTIFIER.matcher(identifier).matches()) {
            throw new IllegalArgumentException(
                    "A name in a database has 1 to 63 letters, digits and '_' here, and begins with no digit, unlike '"
                            + ResourceName.printable(identifier) + "'");
        }
        return identifier;
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
