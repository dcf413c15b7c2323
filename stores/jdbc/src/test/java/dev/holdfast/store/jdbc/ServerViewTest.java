package dev.holdfast.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.servers.sql.Grants;
import dev.holdfast.servers.sql.Meanwhile;
import dev.holdfast.servers.sql.TestDatabase;
import dev.holdfast.servers.sql.TestSource;
import dev.holdfast.store.jdbc.server.DriverDataSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The view for people")
@Tag("mysql")
@Tag("server")
@Tag("postgres")
class ServerViewTest {

    private static final Duration TTL = Duration.ofMinutes(5);

    /** A row of the view. */
    private record Row(
            String name, String kind, String owner, Instant since, Instant until, long token, long waiters) {}

    private static JdbcStore.Builder builder(String url) {
        return JdbcStore.builder(new DriverDataSource(url));
    }

    private static Holdfast client(String url, String label) {
        return Holdfast.builder(builder(url).open())
                .label(label)
                .sessionTtl(TTL)
                .build();
    }

    /** The query of the page. */
    private static String query() throws Exception {
        String page = Files.readString(Path.of("..", "..", "docs", "stores", "postgresql.md"));
        Matcher query =
                Pattern.compile("```sql\\n(SELECT [^;]*holdfast_show[^;]*);").matcher(page);
        assertThat(query.find()).isTrue();
        return query.group(1);
    }

    private static List<Row> rows(String url) throws Exception {
        List<Row> rows = new ArrayList<>();
        try (Connection connection = new TestSource(url).getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query())) {
            boolean isPostgres = url.startsWith("jdbc:postgresql:");
            while (row.next()) {
                rows.add(new Row(
                        row.getString("name"),
                        row.getString("kind"),
                        row.getString("owner"),
                        time(row, "held_since", isPostgres),
                        time(row, "held_until", isPostgres),
                        row.getLong("token"),
                        row.getLong("waiters")));
            }
        }
        return rows;
    }

    private static Instant time(ResultSet row, String column, boolean isPostgres) throws SQLException {
        return isPostgres
                ? row.getObject(column, OffsetDateTime.class).toInstant()
                : Instant.parse(row.getString(column).replace(" UTC", "Z").replace(' ', 'T'));
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("shows who holds what, since when and until when, and how many wait")
    void shows(TestDatabase database) throws Exception {
        String url = database.newUrl();
        Instant before = Instant.now().minusSeconds(3);
        try (Holdfast one = client(url, "worker-7");
                Holdfast other = client(url, "wörker-8");
                Hold hold = one.lock("nightly-répört").acquire()) {
            assertThat(one.semaphore("workers", 3).tryAcquire(2)).isPresent();
            assertThat(other.semaphore("workers", 3).tryAcquire(1)).isPresent();
            assertThat(one.lock("over").tryLock()).isTrue();
            one.lock("over").unlock();
            CompletableFuture<Boolean> waiting = Meanwhile.run(() -> {
                try (Hold next = other.lock("nightly-répört").acquire()) {
                    return next.isHeld();
                }
            });
            Awaitility.await()
                    .pollInSameThread()
                    .atMost(60, TimeUnit.SECONDS)
                    .until(() -> rows(url).stream().anyMatch(row -> row.waiters() == 1));
            List<Row> rows = rows(url);
            assertThat(rows)
                    .extracting(row -> row.name() + " " + row.kind() + " " + row.owner() + " " + row.waiters())
                    .containsExactlyInAnyOrder(
                            "nightly-répört mutex worker-7 1",
                            "workers semaphore worker-7 0",
                            "workers semaphore wörker-8 0");
            assertThat(rows).allSatisfy(row -> {
                assertThat(row.since()).isBetween(before, Instant.now().plusSeconds(3));
                assertThat(row.until())
                        .isBetween(before.plus(TTL), Instant.now().plus(TTL));
            });
            assertThat(rows.stream().filter(row -> row.waiters() == 1))
                    .singleElement()
                    .satisfies(row -> assertThat(hold.fencingToken()).isGreaterThanOrEqualTo(row.token()));
            hold.close();
            assertThat(waiting.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("shows the lease of its own that a hold has, and no hold that is over")
    void leases(TestDatabase database) throws Exception {
        String url = database.newUrl();
        try (Holdfast one = client(url, "worker-7")) {
            assertThat(one.semaphore("leased", 1).tryAcquire(1)).isPresent();
            new TestSource(url)
                    .execute("UPDATE holdfast_resource SET ends = "
                            + ChronoUnit.MICROS.between(
                                    Instant.EPOCH, Instant.now().plus(Duration.ofSeconds(90))));
            assertThat(rows(url))
                    .singleElement()
                    .satisfies(row ->
                            assertThat(row.until()).isBefore(Instant.now().plusSeconds(100)));
            new TestSource(url).execute("UPDATE holdfast_session SET deadline = 1");
            assertThat(rows(url)).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    @DisplayName("is added to tables without it by a client that may, and by no other; locks do without it")
    void isAdded(TestDatabase database) throws Exception {
        String admin = database.newUrl();
        builder(admin).open().close();
        new TestSource(admin).execute("DROP VIEW holdfast_show");
        String url = Grants.grant(admin, "leases", "holdfast_");
        for (JdbcStore.Initialize initialize : JdbcStore.Initialize.values()) {
            if (initialize == JdbcStore.Initialize.ALWAYS) {
                continue; // may make no table, either
            }
            try (Holdfast client = Holdfast.builder(
                                    builder(url).initialize(initialize).open())
                            .build();
                    Hold hold = client.lock("a").acquire()) {
                assertThat(hold.isHeld()).isTrue();
            }
        }
        assertThatThrownBy(() -> rows(admin)).isInstanceOf(SQLException.class);
        builder(admin).initialize(JdbcStore.Initialize.NEVER).open().close();
        assertThatThrownBy(() -> rows(admin)).isInstanceOf(SQLException.class);
        builder(admin).open().close();
        assertThat(rows(admin)).isEmpty();
    }
}
