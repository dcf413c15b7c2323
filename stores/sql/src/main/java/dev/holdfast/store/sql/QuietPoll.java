package dev.holdfast.store.sql;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Poll;
import dev.holdfast.spi.Reply;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The poll of one claim that waits behind one holder while nothing happens: one statement finds that all who are in the way are alive. Where it finds no row something may have
 * happened, and {@link Steps} finds out what.
 *
 * <p>Not thread-safe.
 */
final class QuietPoll {

    private static final String LOOK = "SELECT h.client, q.client, o.ttl, w.place = f.place,"
            + " min(h.deadline, q.deadline, CASE WHEN r.ends > 0 THEN r.ends ELSE h.deadline END)"
            + " FROM holdfast_claim w"
            + " JOIN holdfast_session o ON o.id = w.session"
            + " JOIN holdfast_resource r ON r.name = w.name"
            + " JOIN holdfast_session h ON h.id = r.session"
            + " JOIN holdfast_claim f ON f.name = w.name AND f.granted = 0"
            + " AND f.place = (SELECT min(place) FROM holdfast_claim WHERE name = ?3 AND granted = 0)"
            + " JOIN holdfast_session q ON q.id = f.session"
            + " WHERE w.session = ?1 AND w.claim = ?2 AND w.name = ?3 AND w.granted = 0 AND r.grants = 0"
            // Else the row of the resource was deleted by hand and made again, and the claim is lost.
            + " AND r.waiters > 0 AND r.places >= w.place"
            // A row that makes no sense: the long way says what is wrong with it.
            + " AND r.capacity = r.spec >> 16 AND r.last_token >= r.end_token"
            + " AND o.deadline > ?4 AND h.deadline > ?4 AND q.deadline > ?4 AND (r.ends <= 0 OR r.ends > ?4)";

    private final Statements statements;
    private final SqliteClients clients;
    private final long own;

    QuietPoll(Statements statements, SqliteClients clients, long own) {
        this.statements = statements;
        this.clients = clients;
        this.own = own;
    }

    /** Answers a poll if nothing has happened; null if it can't be told so. */
    @Nullable
    Reply tryIt(Poll poll, long now) throws SQLException {
        if (poll.claims().size() != 1) {
            return null;
        }
        ClaimRef ref = poll.claims().get(0);
        PreparedStatement select = statements.prepare(LOOK);
        select.setLong(1, Session.numberOf(ref.session()));
        select.setLong(2, ref.claim());
        select.setBytes(3, ref.resource().utf8());
        select.setLong(4, now);
        long holder;
        long head;
        long left;
        try (ResultSet row = select.executeQuery()) {
            if (!row.next()) {
                return null;
            }
            holder = row.getLong(1);
            head = row.getLong(2);
            left = Math.min(SqliteDialect.looks(row.getLong(3), row.getInt(4) != 0), row.getLong(5) - now);
        }
        if ((holder != own && clients.isGone(holder)) || (head != own && clients.isGone(head))) {
            return null;
        }
        return new Reply.Polled(List.of(new Reply.Queued(Micros.duration(Math.max(1, left)))));
    }
}
