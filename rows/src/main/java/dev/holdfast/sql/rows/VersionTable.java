package dev.holdfast.sql.rows;

import dev.holdfast.spi.ResourceName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where a version is stored.
 *
 * @param row describes the row in messages
 * @param name the name in our table; null for a row of the program
 */
record VersionTable(
        String row,
        String table,
        Map<String, Object> key,
        String version,
        @Nullable String nonce,
        @Nullable ResourceName name) {

    static VersionTable ours(RowTables tables, ResourceName name) {
        return new VersionTable(
                "'" + name.value() + "'", tables.version(), Map.of("name", name.utf8()), "version", "nonce", name);
    }

    static VersionTable theirs(TableRow row, String version, @Nullable String nonce) {
        return new VersionTable(row.toString(), row.table(), row.key(), version, nonce, null);
    }

    VersionTable withNonce(String column) {
        if (name != null) {
            throw new IllegalStateException("The table of named versions has a column for this");
        }
        return new VersionTable(row, table, key, version, column, null);
    }

    boolean hasNonce() {
        return nonce != null;
    }

    /** Reads the version; null if the program's row does not exist. */
    @Nullable
    RowVersion read(RowDialect dialect, Connection connection, String lock) throws SQLException {
        RowVersion found = RowDialect.first(
                connection,
                "SELECT " + dialect.quoted(version) + (nonce == null ? "" : ", " + dialect.quoted(nonce)) + " FROM "
                        + dialect.quoted(table) + " WHERE " + dialect.condition(key.keySet()) + lock,
                new ArrayList<>(key.values()),
                answer -> new RowVersion(answer.getLong(1), nonce == null ? 0 : answer.getLong(2)));
        return found == null && name != null ? RowVersion.NONE : found;
    }

    /** Sets the next version if the row has the expected one; returns whether it had. */
    boolean advance(RowDialect dialect, Connection connection, RowVersion expected, RowVersion next)
            throws SQLException {
        if (name != null && expected.equals(RowVersion.NONE)) {
            return RowDialect.update(
                            connection,
                            dialect.insertOrIgnore(dialect.quoted(table) + " (name, version, nonce) VALUES (?, ?, ?)"),
                            name.utf8(),
                            next.number(),
                            next.nonce())
                    == 1;
        }
        String set = dialect.quoted(version) + " = ?" + (nonce == null ? "" : ", " + dialect.quoted(nonce) + " = ?");
        String same = " AND " + dialect.quoted(version) + " = ?"
                + (nonce == null ? "" : " AND " + dialect.quoted(nonce) + " = ?");
        List<Object> values = new ArrayList<>();
        add(values, next);
        values.addAll(key.values());
        add(values, expected);
        int changed = RowDialect.update(
                connection,
                "UPDATE " + dialect.quoted(table) + " SET " + set + " WHERE " + dialect.condition(key.keySet()) + same,
                values.toArray());
        if (changed > 1) {
            throw new IllegalArgumentException("The key matches more than one row; use unique columns");
        }
        return changed == 1;
    }

    private void add(List<Object> values, RowVersion one) {
        values.add(one.number());
        if (nonce != null) {
            values.add(one.nonce());
        }
    }
}
