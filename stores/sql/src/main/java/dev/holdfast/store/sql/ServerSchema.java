package dev.holdfast.store.sql;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The tables on a server, and their version.
 *
 * <p>A version is {@code major × 1000 + minor}. Minor versions only add, in such a way that older programs go on working beside newer ones. Nobody touches tables of another major
 * version.
 */
final class ServerSchema {

    /** What of a file of statements is no statement. */
    private static final Pattern COMMENT = Pattern.compile("(?m)^--.*$|\\s--\\s.*$");

    private static final int MAJOR = 1_000;

    /** The newest version that this program knows. */
    private static final int PRESENT = MAJOR;

    private final String product;
    private final Texts texts;
    private final JdbcStore.Initialize initialize;

    /** @param product whose file of statements it is: {@code postgresql} or {@code mysql} */
    ServerSchema(String product, Texts texts, JdbcStore.Initialize initialize) {
        this.product = product;
        this.texts = texts;
        this.initialize = initialize;
    }

    /**
     * Looks at the tables, and makes what is missing if that is asked for.
     *
     * @throws StoreException if they are missing and are not to be made, or are of another version
     */
    void prepare(Connection connection) throws SQLException {
        boolean isThere = isThere(connection);
        if (initialize == JdbcStore.Initialize.ALWAYS || (initialize == JdbcStore.Initialize.IF_MISSING && !isThere)) {
            make(connection);
        } else if (!isThere) {
            throw denied("the tables for locks are not there, and are not to be made (initialize=never): run the file "
                    + file() + " first");
        }
        int version = version(connection);
        if (version / MAJOR != PRESENT / MAJOR) {
            throw denied("the tables for locks have the version " + text(version) + ", and this program knows "
                    + text(PRESENT) + "; use " + (version > PRESENT ? "a newer" : "an older")
                    + " program, or another prefix");
        }
    }

    private boolean isThere(Connection connection) throws SQLException {
        // Asking the catalogue, not the table: a query that fails is an error in the server's log.
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(texts.of(
                        product.equals("postgresql")
                                ? "SELECT to_regclass('holdfast_meta') IS NOT NULL"
                                : "SELECT count(*) > 0 FROM information_schema.tables"
                                        + " WHERE table_schema = database() AND table_name = 'holdfast_meta'"))) {
            return row.next() && row.getBoolean(1);
        }
    }

    private int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(texts.of("SELECT version FROM holdfast_meta"))) {
            if (row.next()) {
                return row.getInt(1);
            }
        }
        throw denied("the table holdfast_meta has no row: run the file " + file());
    }

    private void make(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String one : statements()) {
                statement.execute(one);
            }
        }
    }

    private String file() {
        return product + "-leases-1.0.sql";
    }

    /** The statements that make all tables, with their names as they are here. */
    List<String> statements() {
        try (InputStream in = ServerSchema.class.getResourceAsStream(file())) {
            if (in == null) {
                throw new IllegalStateException("The resource " + file() + " is missing beside " + ServerSchema.class);
            }
            String text = COMMENT.matcher(new String(in.readAllBytes(), StandardCharsets.UTF_8))
                    .replaceAll("");
            return Stream.of(text.split(";\\s*\n"))
                    .map(String::strip)
                    .filter(one -> !one.isEmpty())
                    .map(texts::of)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(int version) {
        return version / MAJOR + "." + version % MAJOR;
    }

    private static StoreException denied(String message) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, null);
    }
}
