package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cache of the prepared statements of one connection.
 *
 * <p>Not thread-safe.
 */
public final class StatementCache {

    /** The end of messages on which a person has to act. */
    public static final String WHAT_TO_DO = "see \"A database says that something is damaged\" in docs/operations.md";

    private static final Logger LOG = LoggerFactory.getLogger(StatementCache.class);

    private static final byte[] NO_NAME = {};

    /** Enough to find the row, but not a page of text. */
    private static final int BYTES_SHOWN = 16;

    private final SqlTemplates templates;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private @Nullable Connection connection;

    /** The statements of one permanent connection. */
    public StatementCache(Connection connection) {
        this(SqlTemplates.OF_SQLITE);
        this.connection = connection;
    }

    /** Statements for successive connections. */
    public StatementCache(SqlTemplates templates) {
        this.templates = templates;
    }

    /** Switches to this connection. */
    public void attach(Connection other) {
        if (other != connection) {
            forget();
            connection = other;
        }
    }

    /** The current connection. */
    public Connection connection() {
        if (connection == null) {
            throw new IllegalStateException("There is no connection to prepare a statement with");
        }
        return connection;
    }

    /** Whether the current connection was closed, as after a failure that could not be undone. */
    public boolean isClosed() {
        try {
            return connection != null && connection.isClosed();
        } catch (SQLException e) {
            return true;
        }
    }

    /** The templates of the statements. */
    public SqlTemplates templates() {
        return templates;
    }

    public PreparedStatement prepare(SqlTemplate sql) throws SQLException {
        return prepare(templates.of(sql));
    }

    /**
     * A statement with its values set.
     *
     * @param values numbers, texts and keys, in the order of the parameters
     */
    public PreparedStatement bound(SqlTemplate template, Object... values) throws SQLException {
        return bound(templates.of(template), values);
    }

    /** The same for a text. */
    public PreparedStatement bound(String text, Object... values) throws SQLException {
        PreparedStatement statement = prepare(text);
        for (int i = 0; i < values.length; i++) {
            if (values[i] instanceof Long number) {
                statement.setLong(i + 1, number);
            } else if (values[i] instanceof Integer number) {
                statement.setInt(i + 1, number);
            } else if (values[i] instanceof byte[] key) {
                statement.setBytes(i + 1, key);
            } else {
                statement.setString(i + 1, (String) values[i]);
            }
        }
        return statement;
    }

    /** The statement of a text, prepared on first use. */
    public PreparedStatement prepare(String text) throws SQLException {
        PreparedStatement known = prepared.get(text);
        if (known == null) {
            known = connection().prepareStatement(text);
            prepared.put(text, known);
        }
        return known;
    }

    /** The statement of a text that returns the generated keys, prepared on first use. */
    public PreparedStatement prepareWithKeys(String text) throws SQLException {
        PreparedStatement known = prepared.get(text);
        if (known == null) {
            known = connection().prepareStatement(text, Statement.RETURN_GENERATED_KEYS);
            prepared.put(text, known);
        }
        return known;
    }

    /** Closes all statements, after a failure: a driver may have silently closed the statement that failed. */
    public void forget() {
        for (PreparedStatement statement : prepared.values()) {
            try {
                statement.close();
            } catch (SQLException e) {
                // It is not used again.
            } catch (RuntimeException | Error e) {
                LOG.error("a statement could not be closed", e);
            }
        }
        prepared.clear();
    }

    /**
     * Logs errors from closing a statement after an expected failure. That failure is not reported, so a fault of the
     * driver would be lost with it.
     */
    public static void logSuppressed(SQLException expected) {
        for (Throwable suppressed : expected.getSuppressed()) {
            if (!(suppressed instanceof SQLException)) {
                LOG.error("a statement could not be closed", suppressed);
            }
        }
    }

    /**
     * Executes a write that must change exactly one row, because the row was read or found missing in the same
     * transaction.
     */
    public static void changeOne(PreparedStatement write) throws SQLException {
        int rows = write.executeUpdate();
        if (rows != 1) {
            throw changed(rows);
        }
    }

    /** The cause of a failure because a row no longer exists. */
    private static final class RowGone extends Exception {
        private static final long serialVersionUID = 1L;

        RowGone() {
            super("The row of a claim or a resource has disappeared", null, false, false);
        }
    }

    /** Whether a row disappeared between the read and the write; usually it was deleted by hand. */
    public static boolean isRowGone(StoreException failure) {
        return failure.getCause() instanceof RowGone;
    }

    /** The failure of a statement that should have changed one row. */
    public static StoreException changed(int rows) {
        return new StoreException(
                StoreException.Reason.CORRUPT,
                StoreException.Effect.NONE,
                "a statement that should change one row changed " + rows
                        + ": someone is deleting rows by hand, or an index of the database is damaged; the "
                        + "transaction was rolled back. Repair it by hand: " + WHAT_TO_DO,
                rows == 0 ? new RowGone() : null);
    }

    public static ResourceName name(byte @Nullable [] key) {
        byte[] bytes = key == null ? NO_NAME : key;
        try {
            return new ResourceName(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException | IllegalArgumentException e) {
            throw new StoreException(
                    StoreException.Reason.CORRUPT,
                    StoreException.Effect.NONE,
                    "a row's name is not valid UTF-8: it has " + bytes.length + " bytes and begins with '"
                            + HexFormat.of().formatHex(bytes, 0, Math.min(BYTES_SHOWN, bytes.length))
                            + "' in hexadecimal; nothing was changed. Repair it by hand: "
                            + WHAT_TO_DO,
                    e);
        }
    }

    public static StoreException damaged(ResourceName name, String what) {
        return new StoreException(
                StoreException.Reason.CORRUPT,
                StoreException.Effect.NONE,
                "the record of '" + name + "' is damaged: " + what + "; nothing was changed. Repair it by hand: "
                        + WHAT_TO_DO,
                null);
    }

    /** The names in the first column. */
    public static List<ResourceName> names(PreparedStatement select) throws SQLException {
        return all(select, row -> name(row.getBytes(1)));
    }

    /** The numbers in the first column. */
    public static List<Long> numbers(PreparedStatement select) throws SQLException {
        return all(select, row -> row.getLong(1));
    }

    /** Creates an object from a row. */
    @FunctionalInterface
    public interface RowMapper<T> {
        T map(ResultSet row) throws SQLException;
    }

    /** The objects of all rows. */
    public static <T> List<T> all(PreparedStatement select, RowMapper<T> mapper) throws SQLException {
        List<T> found = new ArrayList<>();
        try (ResultSet row = select.executeQuery()) {
            while (row.next()) {
                found.add(mapper.map(row));
            }
        }
        return found;
    }

    /** The object of the first row; null if there is none. */
    public static <T> @Nullable T first(PreparedStatement select, RowMapper<T> mapper) throws SQLException {
        try (ResultSet row = select.executeQuery()) {
            return row.next() ? mapper.map(row) : null;
        }
    }
}
