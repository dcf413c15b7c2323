package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.KeepAlive;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.Retire;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.support.Batcher.Call;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.SplittableRandom;

/**
 * Opens, renews and retires sessions: one statement each, on a separate connection, so that a resource that is locked
 * for long cannot delay a renewal.
 *
 * <p>Not thread-safe.
 */
public final class ServerSessions {

    private static final long MIN_TTL_MICROS = 200_000;
    private static final int RANDOM_BITS = 31;

    private final StatementCache statements;
    private final SplittableRandom random;
    private final long client;
    private final String clock;
    private final String add;
    private final String renew;
    private final String readEpoch;

    public ServerSessions(Product product, StatementCache statements, SplittableRandom random, long client) {
        this.statements = statements;
        this.random = random;
        this.client = client;
        SqlTemplates templates = statements.templates();
        this.clock = templates.of("SELECT " + product.clock());
        this.add = templates.of(
                "INSERT INTO holdfast_session (client, ttl, label, epoch, deadline, id) VALUES (?, ?, ?, 0, "
                        + product.clock() + " + ?, ?)");
        this.renew = templates.of("UPDATE holdfast_session SET epoch = ?, deadline = " + product.clock()
                + " + ttl WHERE id = ? AND epoch <= ? AND deadline > " + product.clock());
        this.readEpoch =
                templates.of("SELECT epoch FROM holdfast_session WHERE id = ? AND deadline > " + product.clock());
    }

    /** Whether this class executes a command. */
    public static boolean isOurs(Command command) {
        return command instanceof OpenSession || command instanceof KeepAlive || command instanceof Retire;
    }

    public void answer(Call call) throws SQLException {
        if (call.command() instanceof OpenSession open) {
            call.answer(open(open));
        } else if (call.command() instanceof KeepAlive keepAlive) {
            call.answer(keepAlive(keepAlive));
        } else if (call.command() instanceof Retire retire) {
            retire(SessionRow.numberOf(retire.session()));
            call.answer(new Reply.Done());
        } else {
            throw new IllegalArgumentException("Not a session command: " + call.command());
        }
    }

    /**
     * Opens a session. Its number is never reused: it consists of the second in which it was opened and random bits.
     */
    private Reply open(OpenSession command) throws SQLException {
        long seconds = number(clock) / 1_000_000;
        long id = (seconds & 0xffff_ffffL) << RANDOM_BITS | random.nextLong() >>> (Long.SIZE - RANDOM_BITS);
        long ttl = Math.max(MIN_TTL_MICROS, Micros.of(command.ttl()));
        StatementCache.changeOne(
                statements.bound(add, client, ttl, command.label().getBytes(StandardCharsets.UTF_8), ttl, id));
        return new Reply.SessionOpened(SessionRow.idOf(id), Micros.duration(ttl));
    }

    private Reply keepAlive(KeepAlive command) throws SQLException {
        long id = SessionRow.numberOf(command.session());
        if (statements.bound(renew, command.epoch(), id, command.epoch()).executeUpdate() > 0) {
            return new Reply.SessionAlive();
        }
        try (ResultSet row = statements.bound(readEpoch, id).executeQuery()) {
            return row.next() ? new Reply.Stale() : new Reply.SessionEnded();
        }
    }

    private void retire(long id) throws SQLException {
        PreparedStatement update =
                statements.prepare(statements.templates().of("UPDATE holdfast_session SET epoch = ? WHERE id = ?"));
        update.setLong(1, SessionRow.RETIRED);
        update.setLong(2, id);
        update.executeUpdate();
    }

    private long number(String query) throws SQLException {
        try (ResultSet row = statements.prepare(query).executeQuery()) {
            if (!row.next()) {
                throw new SQLException("No result of " + query);
            }
            return row.getLong(1);
        }
    }
}
