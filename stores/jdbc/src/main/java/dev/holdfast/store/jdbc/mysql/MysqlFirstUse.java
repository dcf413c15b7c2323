package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.jdbc.postgres.PostgresFirstUse;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.StringJoiner;

/**
 * Inserts the rows of unused names with their first grants, on MySQL and MariaDB. {@link PostgresFirstUse} explains why
 * that is as safe as inserting a row and then locking it.
 *
 * <p>An insert that meets a row that another transaction is inserting waits for it, or fails.
 */
final class MysqlFirstUse {

    private static final int HAS_NO_NAME = 1048;
    private static final int IS_THERE = 1062;

    private final SqlTemplates templates;
    private final String clock;
    private final String first;
    private final String hurry;
    private final String one;

    /** @param hurry as for {@link MysqlFastPath} */
    MysqlFirstUse(SqlTemplates templates, String clock, String hurry) {
        this.templates = templates;
        this.clock = clock;
        this.first = ServerFastPath.floor(clock, "DIV");
        this.hurry = hurry;
        this.one = templates.of(textOfOne());
    }

    /**
     * Inserts the rows that do not exist.
     *
     * @param acquires of one session, on distinct names, equal except for names and claims
     */
    MysqlBatchExchange.Outcome make(StatementCache statements, List<Acquire> acquires) throws SQLException {
        if (acquires.size() == 1) {
            return make(statements, acquires.get(0));
        }
        try (Statement insert = statements.connection().createStatement()) {
            int count = insert.executeUpdate(templates.of(several(acquires)), Statement.RETURN_GENERATED_KEYS);
            return outcome(insert, count);
        }
    }

    /** As above, for one. */
    MysqlBatchExchange.Outcome make(StatementCache statements, Acquire acquire) throws SQLException {
        long session = SessionRow.numberOf(acquire.claim().session());
        long lease = Micros.of(acquire.lease().length());
        long spec = ColumnCodes.of(acquire.spec());
        int further = acquire.tokens() - 1;
        PreparedStatement insert = statements.prepareWithKeys(one);
        insert.setLong(1, spec);
        insert.setLong(2, spec >> 16);
        insert.setLong(3, further);
        insert.setLong(4, session);
        insert.setLong(5, acquire.claim().claim());
        insert.setLong(6, acquire.weight());
        insert.setLong(7, further);
        insert.setLong(8, lease);
        insert.setLong(9, lease);
        insert.setBytes(10, acquire.resource().utf8());
        insert.setLong(11, session);
        insert.setLong(12, acquire.epoch());
        try {
            return outcome(insert, insert.executeUpdate());
        } catch (SQLException e) {
            if (e.getErrorCode() == IS_THERE || e.getErrorCode() == HAS_NO_NAME) {
                StatementCache.logSuppressed(e);
                return new MysqlBatchExchange.Outcome(0, 0);
            }
            throw e;
        }
    }

    private static MysqlBatchExchange.Outcome outcome(Statement insert, int count) throws SQLException {
        return new MysqlBatchExchange.Outcome(count, count > 0 ? MysqlBatchExchange.key(insert) : 0);
    }

    /**
     * Inserts the values of one row. If a condition fails, the name is null, and the server rejects the row. Inserting
     * the result of a query takes the servers three times as long, and a text with literal values twice as long.
     */
    private String textOfOne() {
        return hurry + "INSERT INTO holdfast_resource (" + Product.RESOURCE_COLUMNS + ") VALUES (?, ?, " + first
                + " + ?, ?, ?, ?, LAST_INSERT_ID(" + first + "), " + first + " + ?, CASE ? WHEN 0 THEN 0 ELSE "
                + clock + " + ? END, 0, 0, 0, 0, 0, (SELECT ? FROM holdfast_session s WHERE s.id = ? AND s.epoch <= ?"
                + " AND s.deadline > " + clock + " AND "
                + level("(SELECT m.token_floor FROM holdfast_meta m WHERE m.one = 1)") + " LOCK IN SHARE MODE))";
    }

    /** Existing rows are skipped. IGNORE hides no other error, because no value can be out of range. */
    private String several(List<Acquire> acquires) {
        StringJoiner claims = new StringJoiner(" UNION ALL SELECT ", "(SELECT ", ") v");
        acquires.forEach(acquire -> claims.add(MysqlBatchExchange.literal(acquire.resource()) + " AS name, "
                + acquire.claim().claim() + " AS claim"));
        return hurry + "INSERT IGNORE INTO holdfast_resource (" + Product.RESOURCE_COLUMNS + ") SELECT "
                + grant(acquires.get(0), "v.claim") + ", v.name FROM holdfast_meta m STRAIGHT_JOIN " + claims
                + " WHERE m.one = 1 AND " + level("m.token_floor") + " AND EXISTS (SELECT 1 FROM "
                + session(acquires.get(0)) + " LOCK IN SHARE MODE) ORDER BY v.name";
    }

    /** All columns of a row except the name. */
    private String grant(Acquire acquire, String claim) {
        long spec = ColumnCodes.of(acquire.spec());
        long lease = Micros.of(acquire.lease().length());
        String last = first + " + " + (acquire.tokens() - 1);
        return spec + ", " + (spec >> 16) + ", " + last + ", "
                + SessionRow.numberOf(acquire.claim().session()) + ", " + claim + ", " + acquire.weight()
                + ", LAST_INSERT_ID(" + first + "), " + last + ", " + (lease == 0 ? "0" : clock + " + " + lease)
                + ", 0, 0, 0, 0, 0";
    }

    /** The session, on the condition that it is alive and the epoch is not outdated. */
    private String session(Acquire acquire) {
        return "holdfast_session s WHERE s.id = "
                + SessionRow.numberOf(acquire.claim().session()) + " AND s.epoch <= " + acquire.epoch()
                + " AND s.deadline > " + clock;
    }

    /** The condition that tokens can begin at the clock's time. */
    private String level(String floor) {
        return floor + " BETWEEN 0 AND " + first + " - 1 AND " + first + " <= " + ServerFastPath.LARGEST_FIRST;
    }
}
