package dev.holdfast.store.sql;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Reply;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The fast path on MySQL and MariaDB: one statement each. An update of two tables locks the session's row too, which keeps it as it is until the commit. The first token comes back as the
 * key that the statement made, which costs no further trip; the last one follows from it.
 */
final class MysqlFastPath extends ServerFastPath {

    private final String take;
    private final String giveBack;

    MysqlFastPath(Texts texts, String clock) {
        String first = floor(clock, "DIV");
        String last = first + " + ? - 1";
        take = texts.of("UPDATE holdfast_resource r JOIN holdfast_session s ON s.id = ?"
                + " SET r.session = ?, r.claim = ?, r.weight = ?, r.first_token = LAST_INSERT_ID(" + first
                + "), r.end_token = " + last + ", r.last_token = " + last
                + ", r.ends = CASE ? WHEN 0 THEN 0 ELSE " + clock + " + ? END, r.seq = 0"
                + " WHERE r.name = ? AND s.epoch <= ? AND s.deadline > " + clock
                + " AND r.session = 0 AND r.grants = 0 AND r.waiters = 0 AND r.spec = ?"
                // A row that makes no sense is not free: the long way says what is wrong with it.
                + " AND r.capacity = r.spec >> 16 AND r.shared = 0 AND r.last_token >= 0 AND r.last_token < " + first
                + " AND " + first + " <= " + LARGEST_FIRST);
        giveBack = texts.of("UPDATE holdfast_resource r JOIN holdfast_session s ON s.id = ? SET r.session = 0"
                + " WHERE r.name = ? AND r.session = ? AND r.claim = ? AND r.waiters = 0 AND (r.ends <= 0 OR r.ends > "
                + clock + ") AND s.deadline > " + clock);
    }

    @Override
    List<Reply.@Nullable Granted> take(Statements statements, List<Acquire> acquires) throws SQLException {
        List<Reply.@Nullable Granted> replies = new ArrayList<>(acquires.size());
        for (Acquire acquire : acquires) {
            replies.add(take(statements, acquire));
        }
        return replies;
    }

    private Reply.@Nullable Granted take(Statements statements, Acquire acquire) throws SQLException {
        long session = Session.numberOf(acquire.claim().session());
        long lease = Micros.of(acquire.lease().length());
        PreparedStatement update = statements.prepareWithKeys(take);
        update.setLong(1, session);
        update.setLong(2, session);
        update.setLong(3, acquire.claim().claim());
        update.setLong(4, acquire.weight());
        update.setLong(5, acquire.tokens());
        update.setLong(6, acquire.tokens());
        update.setLong(7, lease);
        update.setLong(8, lease);
        update.setBytes(9, acquire.resource().utf8());
        update.setLong(10, acquire.epoch());
        update.setLong(11, Codes.of(acquire.spec()));
        if (update.executeUpdate() == 0) {
            return null;
        }
        try (ResultSet key = update.getGeneratedKeys()) {
            if (!key.next()) {
                throw new SQLException("The driver does not tell what LAST_INSERT_ID was set to");
            }
            long first = key.getLong(1);
            return granted(acquire, first);
        }
    }

    @Override
    List<Reply.@Nullable Released> giveBack(Statements statements, List<Release> releases) throws SQLException {
        List<Reply.@Nullable Released> replies = new ArrayList<>(releases.size());
        PreparedStatement update = statements.prepare(giveBack);
        for (Release release : releases) {
            long session = Session.numberOf(release.claim().session());
            update.setLong(1, session);
            update.setBytes(2, release.resource().utf8());
            update.setLong(3, session);
            update.setLong(4, release.claim().claim());
            replies.add(update.executeUpdate() > 0 ? RELEASED : null);
        }
        return replies;
    }
}
