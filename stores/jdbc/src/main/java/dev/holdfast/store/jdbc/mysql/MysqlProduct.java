package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.Signal;
import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.MysqlErrorCodes;
import dev.holdfast.sql.database.MysqlVariant;
import dev.holdfast.store.jdbc.server.LockWait;
import dev.holdfast.store.jdbc.server.NotificationListener;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.SearchPath;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplate;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;

/** MySQL from version 8.0 on, and MariaDB from version 10.6 on. */
public final class MysqlProduct implements Product {

    /** In UTC, so that time zones and daylight saving time have no effect. */
    public static final String CLOCK = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))";

    private static final String SKIPPING =
            "SELECT 1 FROM holdfast_session WHERE id = ? AND deadline = ? FOR UPDATE SKIP LOCKED";

    // Error codes of both servers.
    private static final int NO_SUCH_THREAD = 1094;
    private static final int NOT_OWN_THREAD = 1095;

    /** In seconds: the shortest time that both servers support. */
    private static final String BRIEF = "SESSION innodb_lock_wait_timeout = 1";

    private static final String PATIENT = "SESSION innodb_lock_wait_timeout = 3";

    /** MariaDB can end any statement earlier. Also in seconds. */
    private static final String BRIEFLY = "SET STATEMENT max_statement_time = 0.2 FOR ";

    /**
     * In seconds. Afterwards the rows of a vanished client that the server has not noticed are unlocked; MySQL has no
     * such limit. A client that was only paused for longer has changed nothing and starts again.
     */
    private static final String NOT_IDLE = ", SESSION idle_transaction_timeout = 10";

    /** Sets the isolation of the next transaction only, because no scope is named. */
    private static final String KEEP = " = 'READ-COMMITTED', @holdfast_wait = @@SESSION.innodb_lock_wait_timeout";

    private static final String KEEP_IDLE = ", @holdfast_idle = @@SESSION.idle_transaction_timeout";

    private static final String RESTORE = "SET SESSION innodb_lock_wait_timeout = @holdfast_wait";

    private static final String RESTORE_IDLE = ", SESSION idle_transaction_timeout = @holdfast_idle";

    /** MariaDB has a prefix for statements that do not wait for locks. */
    private static final String HURRY = "SET STATEMENT innodb_lock_wait_timeout = 0 FOR ";

    /** As above; the administrator's time limit could strike after the statement's own commit, and hide its effect. */
    private static final String HURRY_WITHOUT_LIMIT =
            "SET STATEMENT innodb_lock_wait_timeout = 0, max_statement_time = 0 FOR ";

    private final MysqlVariant server;
    private final String clock;
    private final boolean isMariaDb;
    private final String keep;

    public MysqlProduct(MysqlVariant server, String clock) {
        this.server = server;
        this.clock = clock;
        this.isMariaDb = server.isMariaDb();
        this.keep = "SET @@" + server.isolationVariable() + KEEP + (isMariaDb ? KEEP_IDLE : "") + ", " + BRIEF
                + (isMariaDb ? NOT_IDLE : "");
    }

    @Override
    public String title() {
        return system() + " " + server.version();
    }

    @Override
    public String system() {
        return server.name();
    }

    @Override
    public String clock() {
        return clock;
    }

    /** MariaDB has no random server id. */
    @Override
    public String identity() {
        return "SELECT CONCAT_WS('/', " + (isMariaDb ? "" : "@@server_uuid, ") + "@@server_id, @@hostname, @@port)";
    }

    @Override
    public String quote() {
        return "`";
    }

    @Override
    public SearchPath searchPath(Connection connection, String table) throws SQLException {
        return MysqlSchema.searchPath(connection, table);
    }

    @Override
    public ServerSchema schema(SqlTemplates templates) {
        return new MysqlSchema(templates);
    }

    @Override
    public ServerFastPath fastPath(SqlTemplates templates, boolean isLent, long client) {
        return new MysqlFastPath(
                templates,
                clock,
                isMariaDb ? HURRY : "",
                isLent && !isMariaDb,
                isMariaDb && !isLent ? new MysqlHandOver(templates, clock, HURRY_WITHOUT_LIMIT, client) : null);
    }

    @Override
    public PreparedStatement locking(StatementCache statements, List<byte[]> keys, LockWait wait) throws SQLException {
        return ofKeys(
                statements,
                (isMariaDb && wait == LockWait.BRIEF ? BRIEFLY : "") + "SELECT " + RESOURCE_COLUMNS
                        + " FROM holdfast_resource WHERE name IN ",
                " ORDER BY name FOR UPDATE",
                keys);
    }

    /** A statement with a list of keys, at least one. */
    static PreparedStatement ofKeys(StatementCache statements, String before, String behind, List<byte[]> keys)
            throws SQLException {
        int places = placesFor(keys.size());
        PreparedStatement select =
                statements.prepare(statements.templates().of(before + "(?" + ", ?".repeat(places - 1) + ")" + behind));
        for (int i = 0; i < places; i++) {
            select.setBytes(i + 1, keys.get(Math.min(i, keys.size() - 1)));
        }
        return select;
    }

    /** The number of keys rounded up to a power of two, so that there are few statements to prepare. */
    private static int placesFor(int keys) {
        return keys == 1 ? 1 : Integer.highestOneBit(keys - 1) << 1;
    }

    @Override
    public void add(StatementCache statements, List<byte[]> keys) throws SQLException {
        StringJoiner names = new StringJoiner(" UNION ALL SELECT ", "(SELECT ", ") n");
        names.add("x'" + HexFormat.of().formatHex(keys.get(0)) + "' AS name");
        keys.stream().skip(1).forEach(key -> names.add("x'" + HexFormat.of().formatHex(key) + "'"));
        try (Statement insert = statements.connection().createStatement()) {
            insert.executeUpdate(statements
                    .templates()
                    .of("INSERT INTO holdfast_resource (" + RESOURCE_COLUMNS + ")"
                            + " SELECT 65536 + 109, 1, token_floor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n.name FROM "
                            + names + " STRAIGHT_JOIN holdfast_meta WHERE one = 1 ORDER BY n.name"
                            + " ON DUPLICATE KEY UPDATE grants = holdfast_resource.grants"));
        }
    }

    @Override
    public PreparedStatement ofNames(StatementCache statements, String before, List<byte[]> keys, String behind)
            throws SQLException {
        return ofKeys(statements, before + " IN ", behind, keys);
    }

    @Override
    public int valuesOf(List<byte[]> keys) {
        return placesFor(keys.size());
    }

    @Override
    public void boundWaits(Connection own, LockWait wait) throws SQLException {
        try (Statement set = own.createStatement()) {
            set.execute("SET " + (wait == LockWait.BRIEF ? BRIEF : PATIENT) + (isMariaDb ? NOT_IDLE : ""));
        }
    }

    @Override
    public String sharingSession() {
        return "SELECT client, ttl, label, epoch, deadline, " + clock
                + " FROM holdfast_session WHERE id = ? LOCK IN SHARE MODE";
    }

    @Override
    public boolean expire(StatementCache statements, SessionRow session) throws SQLException {
        PreparedStatement select = statements.prepare(statements.templates().of(SKIPPING));
        select.setLong(1, session.id);
        select.setLong(2, session.deadline);
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return false;
            }
        }
        PreparedStatement update = statements.prepare(SqlTemplate.END_SESSION);
        update.setLong(1, SessionRow.RETIRED);
        update.setLong(2, session.id);
        return update.executeUpdate() > 0;
    }

    @Override
    public void begin(StatementCache statements, boolean isLent) throws SQLException {
        if (isLent) {
            statements.prepare(keep).execute();
        }
        statements.prepare("START TRANSACTION").execute();
    }

    @Override
    public void commit(StatementCache statements, boolean isLent) throws SQLException {
        statements.prepare("COMMIT").execute();
        restore(statements, isLent);
    }

    @Override
    public void rollback(StatementCache statements, boolean isLent) throws SQLException {
        statements.prepare("ROLLBACK").execute();
        restore(statements, isLent);
    }

    private void restore(StatementCache statements, boolean isLent) throws SQLException {
        if (isLent) {
            statements.prepare(isMariaDb ? RESTORE + RESTORE_IDLE : RESTORE).execute();
        }
    }

    /**
     * At any of these levels, an autocommitted statement sees what was committed before it and locks at least as much
     * as with READ COMMITTED. Setting and restoring the isolation would be two more round trips.
     */
    @Override
    public boolean fitsStatements(int isolation) {
        return isolation >= Connection.TRANSACTION_READ_COMMITTED;
    }

    /** Not possible for a single transaction. */
    @Override
    public void relax(WriteBatch writes) {}

    /** Not possible with a commit; see {@link #wake}. */
    @Override
    public void addNotifications(WriteBatch writes, List<LedgerTransaction.Notification> notifications) {
        // The client wakes others after the commit.
    }

    /** Interrupts the sleeps of clients with new grants, see {@link MysqlNotificationListener}. */
    @Override
    public void wake(StatementCache statements, List<LedgerTransaction.Notification> notifications)
            throws SQLException {
        List<Long> clients = notifications.stream()
                .filter(one -> one.signal() instanceof Signal.Granted || one.signal() instanceof Signal.Changed)
                .map(LedgerTransaction.Notification::client)
                .distinct()
                .toList();
        for (long client : clients) {
            try (Statement kill = statements.connection().createStatement()) {
                kill.execute("KILL QUERY IS_USED_LOCK('" + MysqlNotificationListener.lockName(client) + "')");
            } catch (SQLException e) {
                // It does not sleep, or belongs to another user; then it polls.
                if (e.getErrorCode() != NO_SUCH_THREAD && e.getErrorCode() != NOT_OWN_THREAD) {
                    throw e;
                }
                StatementCache.logSuppressed(e);
            }
        }
    }

    @Override
    public NotificationListener listener(NotificationListener.Settings settings) {
        return new MysqlNotificationListener(settings);
    }

    @Override
    public boolean notifiesReliably() {
        return false;
    }

    @Override
    public boolean joins() {
        return false;
    }

    @Override
    public FailureKind kind(SQLException failure) {
        return MysqlErrorCodes.kind(failure);
    }
}
