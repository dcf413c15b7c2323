package dev.holdfast.store.jdbc;

import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.support.Tokens;
import dev.holdfast.store.ledger.table.ColumnCodes;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The tables of locks of a database, filled by hand: with unused names, and others with holders and waiters. */
final class SqlTables {

    static final int NAMES = 20_000;

    /** The number of claims, and of live sessions. */
    static final int CLAIMS = 1_000;

    private static final int PAGE = 1_000;

    private static final String RESOURCES = "INSERT INTO holdfast_resource (spec, capacity, last_token, session, claim,"
            + " weight, first_token, end_token, ends, seq, grants, shared, waiters, places, name) VALUES ";
    private static final String CLAIM =
            "INSERT INTO holdfast_claim (session, claim, binding, wanted, weight, ends, seq,"
                    + " first_token, end_token, name, granted, place) VALUES ";

    private final TestSource source;
    private final boolean isPostgres;
    private final AtomicInteger used = new AtomicInteger();

    SqlTables(String url) {
        this.source = new TestSource(url);
        this.isPostgres = url.startsWith("jdbc:postgresql:");
    }

    TestSource source() {
        return source;
    }

    /** An unused name with a row, if the tables were filled; another one each time. */
    String resting() {
        return "rest/" + used.incrementAndGet();
    }

    /** A name that was never used; another one each time. */
    String unused() {
        return "unused/" + used.incrementAndGet();
    }

    void fill() throws SQLException {
        long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        long deadline = now + Duration.ofDays(1).toNanos() / 1_000;
        // Used an hour ago, so that housekeeping keeps them.
        long token = Tokens.floor(now - Duration.ofHours(1).toNanos() / 1_000);
        insert(
                "INSERT INTO holdfast_session (client, ttl, label, epoch, deadline, id) VALUES ",
                CLAIMS,
                i -> "(1, 60000000, " + bytes("filled") + ", 0, " + deadline + ", " + i + ")");
        int first = used.get();
        insert(RESOURCES, NAMES, i -> resource("rest/" + (first + i), token, 0, 0));
        insert(RESOURCES, CLAIMS, i -> resource("held/" + i, token, i, 1));
        insert(CLAIM, CLAIMS, i -> waiter("held/" + i, i % CLAIMS + 1, 1));
    }

    /** Adds waiters to a held name without waiters. */
    void queue(String name, int count) throws SQLException {
        insert(CLAIM, count, i -> waiter(name, i, i));
        source.execute("UPDATE holdfast_resource SET waiters = " + count + ", places = " + count + " WHERE name = "
                + bytes(name));
    }

    void analyze() throws SQLException {
        for (String table : new String[] {"session", "resource", "claim", "latch", "count"}) {
            source.execute((isPostgres ? "ANALYZE holdfast_" : "ANALYZE TABLE holdfast_") + table);
        }
    }

    private String resource(String name, long token, long session, int waiters) {
        String grantValues = session == 0 ? "0, 0, 0, 0, 0" : session + ", 1, 1, " + token + ", " + token;
        return "(" + ColumnCodes.of(ResourceSpec.MUTEX) + ", 1, " + token + ", " + grantValues + ", 0, 0, 0, 0, "
                + waiters + ", " + waiters + ", " + bytes(name) + ")";
    }

    private String waiter(String name, long session, long place) {
        return "(" + session + ", " + (2 + place) + ", 0, 1, 1, 0, 0, 0, 0, " + bytes(name) + ", 0, " + place + ")";
    }

    private String bytes(String text) {
        String hex = HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
        return isPostgres ? "'\\x" + hex + "'" : "x'" + hex + "'";
    }

    private void insert(String into, int count, IntFunction<String> row) throws SQLException {
        for (int from = 1; from <= count; from += PAGE) {
            source.execute(into
                    + IntStream.range(from, Math.min(from + PAGE, count + 1))
                            .mapToObj(row)
                            .collect(Collectors.joining(", ")));
        }
    }
}
