package dev.holdfast.store.jdbc.postgres;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Function;

/** Binds successive array parameters of a PostgreSQL statement. Not thread-safe. */
final class PostgresArrayBinder {

    private final PreparedStatement to;
    private int place;

    PostgresArrayBinder(PreparedStatement to) {
        this.to = to;
    }

    /** The names, sessions and numbers of claims. */
    <T> void claims(List<T> from, Function<T, ClaimRef> what) throws SQLException {
        set("bytea", from.stream().map(one -> what.apply(one).resource().utf8()).toArray(byte[][]::new));
        numbers(from, one -> SessionRow.numberOf(what.apply(one).session()));
        numbers(from, one -> what.apply(one).claim());
    }

    /** All parameters of acquires: claims, weights, specs, lease lengths, tokens and epochs. */
    void acquires(List<Acquire> acquires) throws SQLException {
        claims(acquires, Acquire::claim);
        numbers(acquires, acquire -> (long) acquire.weight());
        numbers(acquires, acquire -> ColumnCodes.of(acquire.spec()));
        numbers(acquires, acquire -> Micros.of(acquire.lease().length()));
        numbers(acquires, acquire -> (long) acquire.tokens());
        numbers(acquires, Acquire::epoch);
    }

    /** The distinct sessions of acquires. */
    void sessions(List<Acquire> acquires) throws SQLException {
        List<Long> sessions = acquires.stream()
                .map(acquire -> SessionRow.numberOf(acquire.claim().session()))
                .distinct()
                .toList();
        numbers(sessions, session -> session);
    }

    private <T> void numbers(List<T> from, Function<T, Long> what) throws SQLException {
        // The driver sends arrays of this class in binary form, and others as text.
        set("bigint", from.stream().map(what).toArray(Long[]::new));
    }

    private void set(String type, Object[] values) throws SQLException {
        Connection connection = to.getConnection();
        to.setArray(++place, connection.createArrayOf(type, values));
    }
}
