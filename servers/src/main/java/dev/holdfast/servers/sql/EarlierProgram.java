package dev.holdfast.servers.sql;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A program of version 1.0 on the lock tables of a database, with one session. It knows neither annotations nor runs of
 * tasks. Its statements are those of that version and never change; it takes, awaits and hands over a mutex as that
 * version did, each in one transaction.
 */
public final class EarlierProgram {

    /** The label of its session. */
    public static final String LABEL = "earlier";

    private static final String RESOURCE = """
            SELECT spec, capacity, last_token, session, claim, weight, first_token, end_token, ends, seq,
                   grants, shared, waiters, places
              FROM holdfast_resource WHERE name = ?""";
    private static final String ADD_RESOURCE = """
            INSERT INTO holdfast_resource (spec, capacity, last_token, session, claim, weight, first_token, end_token,
                   ends, seq, grants, shared, waiters, places, name)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";
    private static final String SAVE_RESOURCE = """
            UPDATE holdfast_resource
               SET spec = ?, capacity = ?, last_token = ?, session = ?, claim = ?, weight = ?, first_token = ?,
                   end_token = ?, ends = ?, seq = ?, grants = ?, shared = ?, waiters = ?, places = ?
             WHERE name = ?""";
    private static final String DROP_RESOURCE = "DELETE FROM holdfast_resource WHERE name = ?";
    private static final String ADD_SESSION =
            "INSERT INTO holdfast_session (client, ttl, label, epoch, deadline, id) VALUES (?, ?, ?, ?, ?, ?)";
    private static final String HEAD = "SELECT session, claim, binding, wanted, weight, ends, seq, first_token,"
            + " end_token, name, granted, place FROM holdfast_claim WHERE name = ? AND granted = 0 ORDER BY place"
            + " LIMIT 1";
    private static final String ADD_CLAIM = """
            INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token, end_token,
                   name, granted, place)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""";
    private static final String DROP_CLAIM = "DELETE FROM holdfast_claim WHERE name = ? AND granted = ? AND place = ?";

    /** Columns of a resource. */
    private static final int SPEC = 0;

    private static final int CAPACITY = 1;
    private static final int LAST_TOKEN = 2;
    private static final int SESSION = 3;
    private static final int CLAIM = 4;
    private static final int WEIGHT = 5;
    private static final int FIRST_TOKEN = 6;
    private static final int END_TOKEN = 7;
    private static final int ENDS = 8;
    private static final int SEQ = 9;
    private static final int WAITERS = 12;
    private static final int PLACES = 13;
    private static final int COLUMNS = 14;

    /** A fair lock with one owner. */
    private static final long MUTEX = (1L << 16) + 'm';

    private static final long ID = 77;
    private static final long TTL = 3_600_000_000L;

    /** Later than any test, by all clocks of databases. */
    private static final long DEADLINE = 4_000_000_000_000_000L;

    private final TestSource source;
    private final boolean isSqlite;

    /**
     * Opens its session.
     *
     * @param client the number of its client; on SQLite one that lives
     */
    public EarlierProgram(TestSource source, long client) throws SQLException {
        this.source = source;
        this.isSqlite = source.url().startsWith("jdbc:sqlite:");
        try (Connection connection = source.getConnection();
                PreparedStatement insert = connection.prepareStatement(ADD_SESSION)) {
            insert.setLong(1, client);
            insert.setLong(2, TTL);
            if (isSqlite) {
                insert.setString(3, LABEL);
            } else {
                insert.setBytes(3, LABEL.getBytes(StandardCharsets.UTF_8));
            }
            insert.setLong(4, 0);
            insert.setLong(5, DEADLINE);
            insert.setLong(6, ID);
            insert.executeUpdate();
        }
    }

    /** A step on the row of a name, whose changes are saved. */
    @FunctionalInterface
    private interface Step {
        long take(Connection connection, byte[] key, long[] row) throws SQLException;
    }

    /** Takes a mutex, or queues for it; returns the token, or 0 if it waits. */
    public long acquire(String name, long claim) throws SQLException {
        return transact(name, (connection, key, row) -> {
            if (row[SESSION] == 0 && row[WAITERS] == 0) {
                return grant(row, ID, claim, 0);
            }
            row[WAITERS]++;
            row[PLACES]++;
            change(connection, ADD_CLAIM, ID, claim, 0, 1, 1, 0, 0, 0, 0, key, 0, row[PLACES]);
            return 0;
        });
    }

    /** The token of its grant; 0 if it has none. */
    public long token(String name, long claim) throws SQLException {
        try (Connection connection = source.getConnection()) {
            long[] row = read(connection, RESOURCE, key(name));
            return row[SESSION] == ID && row[CLAIM] == claim ? row[FIRST_TOKEN] : 0;
        }
    }

    /** Ends the grant of a mutex, whoever has it, and hands it over to the claim that has waited longest. */
    public void release(String name) throws SQLException {
        transact(name, (connection, key, row) -> {
            row[SESSION] = row[CLAIM] = row[WEIGHT] = row[FIRST_TOKEN] = row[END_TOKEN] = row[ENDS] = row[SEQ] = 0;
            if (row[WAITERS] == 0) {
                return 0;
            }
            try (PreparedStatement select = connection.prepareStatement(HEAD)) {
                select.setBytes(1, key);
                try (ResultSet head = select.executeQuery()) {
                    if (!head.next()) {
                        throw new IllegalStateException("The waiter is missing");
                    }
                    // The sequence number of a claim that waits was always 0, and is not read.
                    long token = grant(row, head.getLong(1), head.getLong(2), head.getLong(6));
                    row[WAITERS]--;
                    change(connection, DROP_CLAIM, key, 0, head.getLong(12));
                    return token;
                }
            }
        });
    }

    /** Deletes the row of a name that is not in use, as housekeeping does. */
    public void dropIdle(String name) throws SQLException {
        try (Connection connection = source.getConnection()) {
            change(connection, DROP_RESOURCE, (Object) key(name));
        }
    }

    private static long grant(long[] row, long session, long claim, long ends) {
        row[SESSION] = session;
        row[CLAIM] = claim;
        row[WEIGHT] = 1;
        row[ENDS] = ends;
        row[SEQ] = 0;
        row[LAST_TOKEN]++;
        row[FIRST_TOKEN] = row[END_TOKEN] = row[LAST_TOKEN];
        return row[LAST_TOKEN];
    }

    private long transact(String name, Step step) throws SQLException {
        byte[] key = key(name);
        try (Connection connection = source.begin()) {
            long[] row = read(connection, isSqlite ? RESOURCE : RESOURCE + " FOR UPDATE", key);
            boolean isNew = row[SPEC] == 0;
            row[SPEC] = MUTEX;
            row[CAPACITY] = 1;
            long result = step.take(connection, key, row);
            Object[] values = new Object[COLUMNS + 1];
            for (int i = 0; i < COLUMNS; i++) {
                values[i] = row[i];
            }
            values[COLUMNS] = key;
            change(connection, isNew ? ADD_RESOURCE : SAVE_RESOURCE, values);
            connection.commit();
            return result;
        }
    }

    private static byte[] key(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** The columns of a resource; all 0 if there is none. */
    private static long[] read(Connection connection, String query, byte[] key) throws SQLException {
        long[] columns = new long[COLUMNS];
        try (PreparedStatement select = connection.prepareStatement(query)) {
            select.setBytes(1, key);
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    for (int i = 0; i < COLUMNS; i++) {
                        columns[i] = row.getLong(i + 1);
                    }
                }
            }
        }
        return columns;
    }

    private static void change(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                if (values[i] instanceof byte[] key) {
                    update.setBytes(i + 1, key);
                } else {
                    update.setLong(i + 1, ((Number) values[i]).longValue());
                }
            }
            int rows = update.executeUpdate();
            if (rows != 1) {
                throw new IllegalStateException(rows + " rows were changed by " + sql);
            }
        }
    }
}
