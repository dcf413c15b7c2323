package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.store.jdbc.postgres.PostgresFirstUse;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.Micros;
import dev.holdfast.store.ledger.table.Session;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.StringJoiner;

/**
 * Makes the rows of names that nobody has used, with the first grant in them, on MySQL and MariaDB. Why that is as good
 * as adding a row and then locking it is told in {@link PostgresFirstUse}.
 *
 * <p>Who finds a row that somebody else is adding waits for it, or fails.
 */
final class MysqlFirstUse {

    private static final int HAS_NO_NAME = 1048;
    private static final int IS_THERE = 1062;

    private final SqlTemplates templates;
    private final String clock;
    private final String first;
    private final String hurry;

    /** @param hurry as for {@link MysqlFastPath} */
    MysqlFirstUse(SqlTemplates templates, String clock, String hurry) {
        this.templates = templates;
        this.clock = clock;
        this.first = ServerFastPath.floor(clock, "DIV");
        this.hurry = hurry;
    }

    /**
     * Makes them, as far as there are none.
     *
     * @param acquires of one session, on different names, and alike but for names and claims
     */
    MysqlBatchExchange.Outcome make(StatementCache statements, List<Acquire> acquires) throws SQLException {
        String text = acquires.size() == 1 ? one(acquires.get(0)) : several(acquires);
        try (Statement insert = statements.connection().createStatement()) {
            return outcome(insert, templates.of(text), acquires.size() == 1);
        }
    }

    /**
     * What follows from a failure that is expected is decided in here, so that one to close the statement is not lost.
     */
    private static MysqlBatchExchange.Outcome outcome(Statement insert, String text, boolean isOne)
            throws SQLException {
        try {
            int count = insert.executeUpdate(text, Statement.RETURN_GENERATED_KEYS);
            return new MysqlBatchExchange.Outcome(count, count > 0 ? MysqlBatchExchange.key(insert) : 0);
        } catch (SQLException e) {
            if (isOne && (e.getErrorCode() == IS_THERE || e.getErrorCode() == HAS_NO_NAME)) {
                return new MysqlBatchExchange.Outcome(0, 0);
            }
            throw e;
        }
    }

    /**
     * The values of one row: where it can't be made so there is no name for it, and it is refused. To insert what a
     * query finds takes the servers three times as long.
     */
    private String one(Acquire acquire) {
        String name = MysqlBatchExchange.literal(acquire.resource());
        return hurry + "INSERT INTO holdfast_resource (" + Product.RESOURCE_COLUMNS + ") VALUES ("
                + grant(acquire, Long.toString(acquire.claim().claim())) + ", (SELECT " + name + " FROM "
                + session(acquire) + " AND " + level("(SELECT m.token_floor FROM holdfast_meta m WHERE m.one = 1)")
                + " LOCK IN SHARE MODE))";
    }

    /** Rows that are there are passed over; no other error is, since no value can be out of its range. */
    private String several(List<Acquire> acquires) {
        StringJoiner claims = new StringJoiner(" UNION ALL SELECT ", "(SELECT ", ") v");
        acquires.forEach(acquire -> claims.add(MysqlBatchExchange.literal(acquire.resource()) + " AS name, "
                + acquire.claim().claim() + " AS claim"));
        return hurry + "INSERT IGNORE INTO holdfast_resource (" + Product.RESOURCE_COLUMNS + ") SELECT "
                + grant(acquires.get(0), "v.claim") + ", v.name FROM holdfast_meta m STRAIGHT_JOIN " + claims
                + " WHERE m.one = 1 AND " + level("m.token_floor") + " AND EXISTS (SELECT 1 FROM "
                + session(acquires.get(0)) + " LOCK IN SHARE MODE) ORDER BY v.name";
    }

    /** All columns of a row but the name. */
    private String grant(Acquire acquire, String claim) {
        long spec = ColumnCodes.of(acquire.spec());
        long lease = Micros.of(acquire.lease().length());
        String last = first + " + " + (acquire.tokens() - 1);
        return spec + ", " + (spec >> 16) + ", " + last + ", "
                + Session.numberOf(acquire.claim().session()) + ", " + claim + ", " + acquire.weight()
                + ", LAST_INSERT_ID(" + first + "), " + last + ", " + (lease == 0 ? "0" : clock + " + " + lease)
                + ", 0, 0, 0, 0, 0";
    }

    /** The session, if it lives, and the epoch is not an old one. */
    private String session(Acquire acquire) {
        return "holdfast_session s WHERE s.id = "
                + Session.numberOf(acquire.claim().session()) + " AND s.epoch <= " + acquire.epoch()
                + " AND s.deadline > " + clock;
    }

    /** That tokens can begin where the clock stands. */
    private String level(String floor) {
        return floor + " BETWEEN 0 AND " + first + " - 1 AND " + first + " <= " + ServerFastPath.LARGEST_FIRST;
    }
}
