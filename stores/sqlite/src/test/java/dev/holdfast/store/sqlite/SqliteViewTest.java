package dev.holdfast.store.sqlite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The view for people, with the query of the page. */
class SqliteViewTest {

    private static final Path PAGE = Path.of("..", "..", "docs", "stores", "sqlite.md");
    private static final Duration TTL = Duration.ofMinutes(10);

    @TempDir
    Path directory;

    /** A row of the view. */
    private record Row(
            String name, String kind, String owner, long pid, Instant since, Instant until, long token, long waiters) {}

    @Test
    void showsWhoHoldsWhatSinceWhenAndUntilWhen() throws Exception {
        Path file = directory.resolve("locks.db");
        Instant before = Instant.now().minusSeconds(2);
        try (Holdfast client = Holdfast.builder("sqlite:" + file)
                        .label("worker-7")
                        .sessionTtl(TTL)
                        .build();
                Hold hold = client.lock("nightly-report").acquire();
                Permits first = client.semaphore("uploads", 3).acquire(2);
                Permits second = client.semaphore("uploads", 3).acquire()) {
            assertThat(client.lock("over").tryLock()).isTrue();
            client.lock("over").unlock();
            List<Row> rows = rows(file);
            assertThat(rows).extracting(Row::name).containsExactlyInAnyOrder("nightly-report", "uploads", "uploads");
            assertThat(rows).allSatisfy(row -> {
                assertThat(row.owner()).isEqualTo("worker-7");
                assertThat(row.pid()).isEqualTo(ProcessHandle.current().pid());
                assertThat(row.since()).isBetween(before, Instant.now().plusSeconds(2));
                assertThat(row.until())
                        .isBetween(before.plus(TTL), Instant.now().plus(TTL).plusSeconds(2));
                assertThat(row.waiters()).isZero();
            });
            assertThat(rows)
                    .filteredOn(Row::name, "nightly-report")
                    .singleElement()
                    .satisfies(row -> {
                        assertThat(row.kind()).isEqualTo("mutex");
                        assertThat(row.token()).isEqualTo(hold.fencingToken());
                    });
            assertThat(List.of(first.isHeld(), second.isHeld())).containsOnly(true);
        }
        assertThat(rows(file)).isEmpty();
    }

    private static List<Row> rows(Path file) throws Exception {
        Matcher query = Pattern.compile("'(SELECT .*holdfast_show.*)'").matcher(Files.readString(PAGE));
        assertThat(query.find()).isTrue();
        List<Row> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query.group(1))) {
            while (row.next()) {
                rows.add(new Row(
                        row.getString("name"),
                        row.getString("kind"),
                        row.getString("owner"),
                        row.getLong("pid"),
                        Instant.parse(row.getString("held_since")),
                        Instant.parse(row.getString("held_until")),
                        row.getLong("token"),
                        row.getLong("waiters")));
            }
        }
        return rows;
    }
}
