package dev.holdfast.store.ledger.table;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows of annotations. A row counts only while its grant does: earlier versions of the program, which do not know
 * this table, leave rows of ended grants, and housekeeping deletes them. Each method is one statement, as in {@link
 * Rows}. Tables of version 1.0 have none.
 *
 * <p>Not thread-safe.
 */
public final class AnnotationRows {

    private final StatementCache statements;

    public AnnotationRows(StatementCache statements) {
        this.statements = statements;
    }

    private boolean isThere() {
        return statements.templates().limitation().isEmpty();
    }

    /** The sequence number of the last annotation of a grant; null if there is none. */
    @Nullable
    public Long seq(ClaimRow grant) throws SQLException {
        return StatementCache.first(
                statements.bound(SqlTemplate.ANNOTATION, grant.resource.key, grant.session, grant.number),
                row -> row.getLong(1));
    }

    /** Adds or replaces the annotation of a grant. */
    public void save(ClaimRow grant, long seq, String text, boolean isNew) throws SQLException {
        StatementCache.changeOne(statements.bound(
                isNew ? SqlTemplate.ADD_ANNOTATION : SqlTemplate.SAVE_ANNOTATION,
                seq,
                text.getBytes(StandardCharsets.UTF_8),
                grant.resource.key,
                grant.session,
                grant.number));
    }

    /** Drops the annotation of a grant, if there is one. */
    public void drop(ClaimRow grant) throws SQLException {
        if (!isThere()) {
            return;
        }
        statements
                .bound(SqlTemplate.DROP_ANNOTATION, grant.resource.key, grant.session, grant.number)
                .executeUpdate();
    }

    /** The annotations of grants of the resources from one name to another, some of which may have ended. */
    public Map<ClaimRef, String> between(ResourceName first, ResourceName last) throws SQLException {
        if (!isThere()) {
            return Map.of();
        }
        Map<ClaimRef, String> texts = new HashMap<>();
        try (ResultSet row = statements
                .bound(SqlTemplate.ANNOTATIONS, first.utf8(), last.utf8())
                .executeQuery()) {
            while (row.next()) {
                byte[] text = row.getBytes(4);
                texts.put(
                        new ClaimRef(
                                StatementCache.name(row.getBytes(1)), SessionRow.idOf(row.getLong(2)), row.getLong(3)),
                        text == null ? "" : new String(text, StandardCharsets.UTF_8));
            }
        }
        return texts;
    }

    /** The key of a row. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Key(byte[] name, long session, long claim) {}

    /** Deletes rows whose grants have ended, at most this many; returns how many. */
    public int deleteLeft(int limit) throws SQLException {
        if (!isThere()) {
            return 0;
        }
        List<Key> left = StatementCache.all(
                statements.bound(SqlTemplate.LEFT_ANNOTATIONS, limit),
                row -> new Key(row.getBytes(1), row.getLong(2), row.getLong(3)));
        for (Key key : left) {
            statements
                    .bound(SqlTemplate.DROP_ANNOTATION, key.name, key.session, key.claim)
                    .executeUpdate();
        }
        return left.size();
    }
}
