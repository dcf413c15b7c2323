package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.Stream;

/**
 * A batch of releases and acquires of one session in one update. It updates a single table: an update of joined tables
 * first records what it will change, which costs several times as much. A subquery locks the session's row.
 *
 * <p>Assignments are evaluated from left to right, or all at once in a mode of MariaDB. So the column that
 * distinguishes the two kinds of rows, the session, is assigned last.
 */
final class MysqlBatchExchange {

    private static final HexFormat HEX = HexFormat.of();

    /** How many rows matched, and the first token of each acquired lock. */
    record Outcome(int count, long first) {}

    private final SqlTemplates templates;
    private final String clock;
    private final String first;
    private final String hurry;

    /** @param hurry as for {@link MysqlFastPath} */
    MysqlBatchExchange(SqlTemplates templates, String clock, String hurry) {
        this.templates = templates;
        this.clock = clock;
        this.first = ServerFastPath.floor(clock, "DIV");
        this.hurry = hurry;
    }

    /** The condition that a row has no grants or waiters, and that its tokens are below the new ones. */
    static String free(String first) {
        return "r.session = 0 AND r.grants = 0 AND r.waiters = 0"
                // An invalid row is not free: the ledger reports what is wrong with it.
                + " AND r.capacity = r.spec >> 16 AND r.shared = 0 AND r.last_token >= 0 AND r.last_token < " + first
                + " AND " + first + " <= " + ServerFastPath.LARGEST_FIRST;
    }

    /** The condition that the grant has not expired and that there are no waiters. */
    static String unended(String clock) {
        return "r.waiters = 0 AND (r.ends <= 0 OR r.ends > " + clock + ")";
    }

    /** The value that LAST_INSERT_ID was set to. */
    static long key(Statement update) throws SQLException {
        try (ResultSet key = update.getGeneratedKeys()) {
            if (!key.next()) {
                throw new SQLException("The driver does not report the value of LAST_INSERT_ID");
            }
            return key.getLong(1);
        }
    }

    /**
     * Executes the commands whose conditions hold.
     *
     * @param releases of one session, on distinct names
     * @param acquires of the same session, on other names, equal except for names and claims
     * @param mark the number that identifies the released rows
     */
    Outcome carryOut(StatementCache statements, List<Release> releases, List<Acquire> acquires, long mark)
            throws SQLException {
        try (Statement update = statements.connection().createStatement()) {
            int count =
                    update.executeUpdate(templates.of(text(releases, acquires, mark)), Statement.RETURN_GENERATED_KEYS);
            boolean hasFirst = count > 0 && !acquires.isEmpty();
            return new Outcome(count, hasFirst ? lastKey(update) : 0);
        }
    }

    /** 0 if it was not set, because nothing was acquired. */
    private static long lastKey(Statement update) throws SQLException {
        try (ResultSet key = update.getGeneratedKeys()) {
            return key.next() ? key.getLong(1) : 0;
        }
    }

    private String text(List<Release> releases, List<Acquire> acquires, long mark) {
        StringBuilder text = new StringBuilder(hurry).append("UPDATE holdfast_resource r SET ");
        StringJoiner conditions = new StringJoiner(" OR ", " AND (", ")");
        long session = 0;
        if (!acquires.isEmpty()) {
            session = SessionRow.numberOf(acquires.get(0).claim().session());
            addAcquires(acquires, session, text, conditions);
        }
        if (!releases.isEmpty()) {
            addReleases(releases, conditions);
        }
        text.append("r.seq = IF(r.session = 0, 0, ").append(mark).append("), r.session = IF(r.session = 0, ");
        text.append(session).append(", 0) WHERE r.name IN ");
        text.append(names(Stream.concat(
                releases.stream().map(Release::resource), acquires.stream().map(Acquire::resource))));
        return text.append(conditions).toString();
    }

    private void addAcquires(List<Acquire> acquires, long session, StringBuilder text, StringJoiner conditions) {
        Acquire one = acquires.get(0);
        String names = names(acquires.stream().map(Acquire::resource));
        StringJoiner claims = new StringJoiner(",");
        acquires.forEach(acquire -> claims.add(Long.toString(acquire.claim().claim())));
        long lease = Micros.of(one.lease().length());
        String last = "IF(r.session = 0, " + first + " + " + (one.tokens() - 1) + ", ";
        text.append("r.claim = IF(r.session = 0, ELT(FIELD(r.name,").append(names, 1, names.length());
        text.append(",").append(claims).append("), r.claim)");
        text.append(", r.weight = ").append(one.weight());
        text.append(", r.first_token = IF(r.session = 0, LAST_INSERT_ID(")
                .append(first)
                .append("), 0)");
        text.append(", r.end_token = ")
                .append(last)
                .append("0), r.last_token = ")
                .append(last)
                .append("r.last_token)");
        text.append(", r.ends = ")
                .append(lease == 0 ? "0" : clock + " + " + lease)
                .append(", ");
        conditions.add("(r.name IN " + names + " AND r.spec = " + ColumnCodes.of(one.spec()) + " AND " + free(first)
                + " AND " + live(session, " AND s.epoch <= " + one.epoch()) + ")");
    }

    private void addReleases(List<Release> releases, StringJoiner conditions) {
        long session = SessionRow.numberOf(releases.get(0).claim().session());
        StringJoiner claims = new StringJoiner(",", "(", ")");
        releases.forEach(release -> claims.add(
                "(" + literal(release.resource()) + "," + release.claim().claim() + ")"));
        conditions.add("(r.session = " + session + " AND (r.name, r.claim) IN " + claims + " AND " + unended(clock)
                + " AND " + live(session, "") + ")");
    }

    /** The condition that a session is alive; it stays unchanged until the commit. */
    private String live(long session, String and) {
        return "EXISTS (SELECT 1 FROM holdfast_session s WHERE s.id = " + session + and + " AND s.deadline > " + clock
                + " LOCK IN SHARE MODE)";
    }

    private static String names(Stream<ResourceName> names) {
        StringJoiner joined = new StringJoiner(",", "(", ")");
        names.forEach(name -> joined.add(literal(name)));
        return joined.toString();
    }

    static String literal(ResourceName name) {
        return "x'" + HEX.formatHex(name.utf8()) + "'";
    }
}
