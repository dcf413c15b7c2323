package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.sql.database.FailureKind;
import dev.holdfast.sql.database.PostgresErrorCodes;
import dev.holdfast.store.jdbc.server.LockWait;
import dev.holdfast.store.jdbc.server.NotificationListener;
import dev.holdfast.store.jdbc.server.Product;
import dev.holdfast.store.jdbc.server.SearchPath;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.jdbc.server.ServerSchema;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.runtime.SignalCodec;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import dev.holdfast.store.ledger.table.WriteBatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** PostgreSQL, from version 12 on. */
public final class PostgresProduct implements Product {

    public static final String CLOCK = "(extract(epoch from statement_timestamp()) * 1000000)::bigint";

    private static final String LOCK =
            "SELECT " + RESOURCE_COLUMNS + " FROM holdfast_resource WHERE name = ANY (?) ORDER BY name FOR UPDATE";

    private static final String ADD = "INSERT INTO holdfast_resource (" + RESOURCE_COLUMNS + ")"
            + " SELECT 65536 + 109, 1, token_floor, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n.name"
            + " FROM unnest(?::bytea[]) WITH ORDINALITY AS n (name, place), holdfast_meta WHERE one = 1 ORDER BY n.place"
            + " ON CONFLICT (name) DO NOTHING";

    private static final String EXPIRE = "UPDATE holdfast_session SET epoch = " + SessionRow.RETIRED + ", deadline = 0"
            + " WHERE id = (SELECT id FROM holdfast_session WHERE id = ? AND deadline = ? FOR UPDATE SKIP LOCKED)";

    /** In milliseconds. A lock-wait time-out is an error in the server's log. */
    private static final String BRIEF = "lock_timeout = 200";

    private static final String PATIENT = "lock_timeout = 3000";

    /**
     * In milliseconds. Afterwards the rows of a vanished client that the server has not noticed are unlocked. A client
     * that was only paused for longer has changed nothing and starts again.
     */
    private static final String NOT_IDLE = "idle_in_transaction_session_timeout = 10000";

    /**
     * Rows are looked up by key, one by one, in the order of the request: that order prevents deadlocks, see {@link
     * PostgresBatchExchange}. Plans are cached, and one made for a small table could scan all of it later. Before
     * version 18, a disabled plan node counts as expensive if there is no alternative, and an expensive plan would be
     * JIT-compiled each time. Plans do not depend on the values, and planning takes longer than executing.
     */
    private static final String LOOK_UP =
            "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;"
                    + " SET plan_cache_mode = force_generic_plan";

    private final String title;
    private final String clock;
    private final String channel;
    private final boolean joins;

    /**
     * Creates the product of a server.
     *
     * @param clock {@link #CLOCK}, or another for tests
     * @param channel the prefix of the channels
     * @param joins whether the driver sends statements of one text in one round trip
     */
    public PostgresProduct(String title, String clock, String channel, boolean joins) {
        this.title = title;
        this.clock = clock;
        this.channel = channel;
        this.joins = joins;
    }

    @Override
    public String title() {
        return title;
    }

    @Override
    public String system() {
        return "PostgreSQL";
    }

    @Override
    public String clock() {
        return clock;
    }

    /** The identifier of the cluster, which its replicas share, and the timeline, which each promotion increases. */
    @Override
    public String identity() {
        return "SELECT concat_ws('/', system_identifier, CASE WHEN pg_is_in_recovery() THEN 'standby'"
                + " ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END) FROM pg_control_system()";
    }

    @Override
    public String quote() {
        return "\"";
    }

    @Override
    public SearchPath searchPath(Connection connection, String table) throws SQLException {
        return PostgresSchema.searchPath(connection, table);
    }

    @Override
    public ServerSchema schema(SqlTemplates templates) {
        return new PostgresSchema(templates);
    }

    @Override
    public ServerFastPath fastPath(SqlTemplates templates, boolean isLent, long client) {
        return new PostgresFastPath(templates, clock, isLent, joins, channel, client);
    }

    @Override
    public PreparedStatement locking(StatementCache statements, List<byte[]> keys, LockWait wait) throws SQLException {
        return withNames(statements, LOCK, keys);
    }

    @Override
    public void add(StatementCache statements, List<byte[]> keys) throws SQLException {
        withNames(statements, ADD, keys).executeUpdate();
    }

    @Override
    public PreparedStatement ofNames(StatementCache statements, String before, List<byte[]> keys, String behind)
            throws SQLException {
        return withNames(statements, before + " = ANY (?)" + behind, keys);
    }

    /** A statement whose first parameter is an array of names. */
    private static PreparedStatement withNames(StatementCache statements, String text, List<byte[]> keys)
            throws SQLException {
        PreparedStatement statement = statements.prepare(statements.templates().of(text));
        statement.setArray(1, statements.connection().createArrayOf("bytea", keys.toArray(byte[][]::new)));
        return statement;
    }

    @Override
    public int valuesOf(List<byte[]> keys) {
        return 1;
    }

    @Override
    public void boundWaits(Connection own, LockWait wait) throws SQLException {
        try (Statement set = own.createStatement()) {
            set.execute("SET " + (wait == LockWait.BRIEF ? BRIEF : PATIENT) + "; SET " + NOT_IDLE + "; " + LOOK_UP);
        }
    }

    @Override
    public String sharingSession() {
        return "SELECT client, ttl, label, epoch, deadline, " + clock + " FROM holdfast_session WHERE id = ? FOR SHARE";
    }

    @Override
    public boolean expire(StatementCache statements, SessionRow session) throws SQLException {
        PreparedStatement update = statements.prepare(statements.templates().of(EXPIRE));
        update.setLong(1, session.id);
        update.setLong(2, session.deadline);
        return update.executeUpdate() > 0;
    }

    // The driver begins a transaction with its first statement, without a separate round trip.

    @Override
    public void begin(StatementCache statements, boolean isLent) throws SQLException {
        statements.connection().setAutoCommit(false);
        if (isLent) {
            statements.prepare("SET LOCAL " + BRIEF + "; SET LOCAL " + NOT_IDLE).execute();
        }
    }

    @Override
    public void commit(StatementCache statements, boolean isLent) throws SQLException {
        Connection connection = statements.connection();
        connection.commit();
        connection.setAutoCommit(true);
    }

    @Override
    public void rollback(StatementCache statements, boolean isLent) throws SQLException {
        Connection connection = statements.connection();
        connection.rollback();
        connection.setAutoCommit(true);
    }

    @Override
    public void relax(WriteBatch writes) {
        writes.ask("SET LOCAL synchronous_commit TO OFF", (statement, before) -> {});
    }

    @Override
    public void addNotifications(WriteBatch writes, List<LedgerTransaction.Notification> notifications) {
        writes.ask("SELECT pg_notify(c, m) FROM unnest(?::text[], ?::text[]) AS told (c, m)", (statement, before) -> {
            Connection connection = statement.getConnection();
            statement.setArray(
                    before + 1,
                    connection.createArrayOf(
                            "text",
                            notifications.stream()
                                    .map(one -> channelOf(one.client()))
                                    .toArray()));
            statement.setArray(
                    before + 2,
                    connection.createArrayOf(
                            "text",
                            notifications.stream()
                                    .map(one -> SignalCodec.of(one.signal()))
                                    .toArray()));
        });
    }

    @Override
    public boolean joins() {
        return joins;
    }

    /** Not needed: notifications went with the commit. */
    @Override
    public void wake(StatementCache statements, List<LedgerTransaction.Notification> notifications) {
        // The commit has notified them.
    }

    @Override
    public NotificationListener listener(NotificationListener.Settings settings) {
        return new PostgresNotificationListener(settings, channelOf(settings.client()));
    }

    @Override
    public boolean notifiesReliably() {
        return true;
    }

    private String channelOf(long client) {
        return channel + Long.toHexString(client);
    }

    @Override
    public FailureKind kind(SQLException failure) {
        return PostgresErrorCodes.kind(failure);
    }
}
