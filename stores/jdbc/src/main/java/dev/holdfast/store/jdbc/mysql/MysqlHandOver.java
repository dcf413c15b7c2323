package dev.holdfast.store.jdbc.mysql;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.sql.database.ConnectionDisposal;
import dev.holdfast.store.jdbc.server.ServerFastPath;
import dev.holdfast.store.ledger.LedgerExecutor;
import dev.holdfast.store.ledger.LedgerTransaction;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import dev.holdfast.store.ledger.table.SqlTemplates;
import dev.holdfast.store.ledger.table.StatementCache;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * MariaDB executes a compound statement outside of a procedure: the server follows the steps of the transaction, which
 * otherwise are nine round trips. All conditions are checked before anything is changed. Like the other fast paths it
 * fails at once if a row is locked. An error rolls back. What no handler catches, such as a killed query, leaves the
 * transaction open, so the client rolls back after every failure: the next statement would commit it.
 */

/**
 * Hands a contended lock over on MariaDB to the claim that has waited longest, and enqueues the previous holder's next
 * claim, with one round trip and one commit; it also wakes the other client. It handles only the simple case of a lock
 * that was held exclusively and whose live head wants it exclusively with a session lease; {@link LedgerExecutor}
 * handles the others.
 *
 * <p>Not thread-safe.
 */
final class MysqlHandOver {

    private static final HexFormat HEX = HexFormat.of();

    /** How many tokens ahead of the clock a block may end. */
    private static final long LEAD = Tokens.floor(Tokens.LEAD_MICROS);

    private static final int SYNTAX_ERROR = 1064;

    /** Behind the declarations of the values. Variables are named differently from all columns, which they hide. */
    private static final String STEPS = """
            DECLARE v_now, v_mark, v_capacity, v_last, v_waiters, v_places, v_ttl, v_deadline, v_place, v_head,
                v_head_claim, v_head_wanted, v_head_weight, v_head_binding, v_head_ends, v_head_deadline, v_behind,
                v_first, v_end, v_new_owner BIGINT;
            DECLARE v_double INT DEFAULT 0;
            DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
            START TRANSACTION;
            SELECT r.capacity, r.last_token, r.waiters - 1 + (v_number <> 0), r.places + (v_number <> 0)
                INTO v_capacity, v_last, v_waiters, v_places
                FROM holdfast_resource r
                WHERE r.name = v_name AND r.session = v_session AND r.claim = v_claim
                AND (r.ends <= 0 OR r.ends > $clock) AND r.waiters > 0 AND r.grants = 0 AND r.shared = 0
                AND r.capacity = r.spec >> 16 AND r.last_token >= 0 AND r.spec & 255 <> 108
                AND (v_number = 0 OR (r.spec = v_spec AND r.capacity >= v_weight))
                FOR UPDATE;
            SET v_now = $clock;
            SET v_mark = $mark;
            IF v_last <= v_mark + $lead AND v_mark <= $largest THEN
                SELECT s.ttl, s.deadline INTO v_ttl, v_deadline
                    FROM holdfast_session s
                    WHERE s.id = v_session AND s.deadline > v_now AND s.epoch <= v_epoch
                    LOCK IN SHARE MODE;
                SELECT c.place, c.session, c.claim, c.wanted, c.weight, c.binding, c.ends
                    INTO v_place, v_head, v_head_claim, v_head_wanted, v_head_weight, v_head_binding, v_head_ends
                    FROM holdfast_claim c
                    WHERE c.name = v_name AND c.granted = 0 ORDER BY c.place LIMIT 1;
                SELECT s.client, s.deadline INTO v_new_owner, v_head_deadline
                    FROM holdfast_session s
                    WHERE s.id = v_head AND s.deadline > v_now;
            END IF;
            IF v_number <> 0 THEN
                SELECT COUNT(*) INTO v_double FROM holdfast_claim c
                    WHERE c.session = v_session AND c.claim = v_number AND c.name = v_name;
                SELECT s.deadline INTO v_behind
                    FROM holdfast_claim c JOIN holdfast_session s ON s.id = c.session
                    WHERE c.name = v_name AND c.granted = 0 AND c.place > v_place ORDER BY c.place LIMIT 1;
            END IF;
            IF v_ttl IS NOT NULL AND v_new_owner IS NOT NULL AND v_double = 0 AND v_head_binding = 0
                AND v_head_ends = 0 AND v_head_weight = v_capacity THEN
                SET v_first = GREATEST(v_last + 1, v_mark);
                SET v_end = GREATEST(v_first, LEAST(v_first + v_head_wanted - 1, v_mark + $lead));
                DELETE FROM holdfast_claim WHERE name = v_name AND granted = 0 AND place = v_place;
                UPDATE holdfast_resource
                    SET session = v_head, claim = v_head_claim, weight = v_head_weight, first_token = v_first,
                    end_token = v_end, last_token = v_end, ends = 0, seq = 0, waiters = v_waiters, places = v_places
                    WHERE name = v_name;
                IF v_number <> 0 THEN
                    INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq, first_token,
                        end_token, name, granted, place)
                        VALUES (v_session, v_number, v_binding, v_wanted, v_weight, v_ends, v_now, 0, 0, v_name, 0,
                        v_places);
                END IF;
                COMMIT;
                IF v_new_owner <> v_client THEN
                    BEGIN
                        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;
                        KILL QUERY IS_USED_LOCK(CONCAT('$lock', LOWER(HEX(v_new_owner))));
                    END;
                END IF;
            ELSE
                SET v_new_owner = NULL;
                ROLLBACK;
            END IF;
            SELECT v_new_owner, v_head, v_head_claim, v_first, v_end, v_waiters,
                LEAST(v_ttl DIV 3, v_head_deadline - v_now, COALESCE(v_behind, v_deadline) - v_now);
            END""";

    private final String hurry;
    private final long client;
    private final String steps;

    /** Whether the server does not understand it, such as in Oracle's mode. */
    private boolean isUnknown;

    /**
     * Builds the statement.
     *
     * @param hurry a prefix that makes a statement fail at once if a row is locked
     * @param client the number of this client, whose notification is in the result
     */
    MysqlHandOver(SqlTemplates templates, String clock, String hurry, long client) {
        this.hurry = hurry;
        this.client = client;
        // The names of the tables come last: they may contain anything, and the clock of a test is a table.
        this.steps = templates.of(STEPS.replace("$clock", clock)
                .replace("$mark", ServerFastPath.floor("v_now", "DIV"))
                .replace("$lead", Long.toString(LEAD))
                .replace("$largest", Long.toString(ServerFastPath.LARGEST_FIRST))
                .replace("$lock", MysqlNotificationListener.LOCK_PREFIX));
    }

    /**
     * Hands a lock over.
     *
     * @param next the previous holder's next claim; null for none
     * @return null if this was not possible, with nothing changed
     */
    ServerFastPath.@Nullable HandedOver tryIt(StatementCache statements, ClaimRef grant, @Nullable Acquire next)
            throws SQLException {
        if (isUnknown) {
            return null;
        }
        try (Statement compound = statements.connection().createStatement()) {
            compound.execute(text(grant, next));
            try (ResultSet row = compound.getResultSet()) {
                if (!row.next()) {
                    throw new SQLException("A hand-over returned no row");
                }
                long owner = row.getLong(1);
                return row.wasNull() ? null : handedOver(row, owner, grant, next);
            }
        } catch (SQLException e) {
            if (isRolledBack(statements, e) && e.getErrorCode() == SYNTAX_ERROR) {
                isUnknown = true;
                return null;
            }
            throw e;
        }
    }

    /** Rolls back what the statement has left open, or ends the connection, so that the server does. */
    private static boolean isRolledBack(StatementCache statements, SQLException failure) {
        try (Statement rollback = statements.connection().createStatement()) {
            rollback.execute("ROLLBACK");
            return true;
        } catch (SQLException e) {
            failure.addSuppressed(e);
            ConnectionDisposal.discard(statements.connection());
            return false;
        }
    }

    private String text(ClaimRef grant, @Nullable Acquire next) {
        StringBuilder text = new StringBuilder(steps.length() + 1_024)
                .append(hurry)
                .append("BEGIN NOT ATOMIC DECLARE v_name VARBINARY(512) DEFAULT x'")
                .append(HEX.formatHex(grant.resource().utf8()))
                .append("';");
        declare(text, "v_client", client);
        declare(text, "v_session", SessionRow.numberOf(grant.session()));
        declare(text, "v_claim", grant.claim());
        declare(text, "v_number", next == null ? 0 : next.claim().claim());
        declare(text, "v_epoch", next == null ? SessionRow.RETIRED : next.epoch());
        declare(text, "v_spec", next == null ? 0 : ColumnCodes.of(next.spec()));
        declare(text, "v_weight", next == null ? 0 : next.weight());
        declare(text, "v_wanted", next == null ? 0 : next.tokens());
        declare(text, "v_ends", next == null ? 0 : -Micros.of(next.lease().length()));
        declare(
                text,
                "v_binding",
                next == null ? 0 : ColumnCodes.of(next.lease().binding()));
        return text.append(steps).toString();
    }

    private static void declare(StringBuilder text, String variable, long value) {
        text.append("DECLARE ")
                .append(variable)
                .append(" BIGINT DEFAULT ")
                .append(value)
                .append(';');
    }

    private ServerFastPath.HandedOver handedOver(ResultSet row, long owner, ClaimRef grant, @Nullable Acquire next)
            throws SQLException {
        ClaimRef head = new ClaimRef(grant.resource(), SessionRow.idOf(row.getLong(2)), row.getLong(3));
        TokenBlock tokens = new TokenBlock(row.getLong(4), row.getLong(5));
        boolean isAwaited = row.getLong(6) > 0;
        return new ServerFastPath.HandedOver(
                next == null ? ServerFastPath.RELEASED : new Reply.Queued(Micros.duration(Math.max(1, row.getLong(7)))),
                owner == client
                        ? Optional.of(new LedgerTransaction.Notification(
                                client,
                                new Signal.Granted(head, new Reply.Granted(tokens, Optional.empty(), isAwaited))))
                        : Optional.empty(),
                isAwaited);
    }
}
