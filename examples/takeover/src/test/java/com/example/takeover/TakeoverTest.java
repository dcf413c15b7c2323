package com.example.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.servers.PostgresServer;
import dev.holdfast.servers.Programs;
import dev.holdfast.servers.ServerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Two instances of a service that take turns at a lock")
@Tag("server")
@Tag("process")
class TakeoverTest {

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final Pattern AT_WORK = Pattern.compile("first has the lock with token (\\d+)");

    @Test
    @DisplayName("go on when one is stopped for longer than its lease, which is told, and can't write any more")
    void takeover() throws Exception {
        String database = PostgresServer.shared().newDatabase();
        try (Programs programs = new Programs()) {
            ServerProcess first = start(programs, database, "first");
            programs.awaitLine("first has written with token \\d+");
            start(programs, database, "second");
            programs.awaitLine("second has written with token \\d+");

            long stale = stopAtWork(first, programs);
            await().atMost(DEADLINE).until(() -> hasWrittenAfter(stale, "second", programs));
            first.resume();
            programs.awaitLine("first lost the lock with token " + stale + ": .*");
            programs.awaitLine("first was refused with token " + stale + ", for \\d+ has written");
            await().atMost(DEADLINE).until(() -> hasWrittenAfter(stale, "first", programs));

            programs.lines().forEach(System.out::println);
            assertThat(tokens(database)).isSorted().doesNotHaveDuplicates().doesNotContain(stale);
        }
    }

    private static ServerProcess start(Programs programs, String database, String name) {
        return programs.start(
                TakeoverApplication.class,
                "--spring.datasource.url=" + database,
                "--takeover.name=" + name,
                "--holdfast.store-timeout=1m");
    }

    /** Stops a process in the middle of its work, between its last look at the lock and its write. */
    private static long stopAtWork(ServerProcess first, Programs programs) {
        return await().atMost(DEADLINE)
                .until(() -> stoppedAtWork(first, programs), OptionalLong::isPresent)
                .getAsLong();
    }

    private static OptionalLong stoppedAtWork(ServerProcess first, Programs programs) {
        if (atWork(programs).isEmpty()) {
            return OptionalLong.empty();
        }
        first.pause();
        OptionalLong token = atWork(programs);
        if (token.isEmpty()) {
            first.resume(); // it was faster
        }
        return token;
    }

    private static OptionalLong atWork(Programs programs) {
        List<String> lines = programs.lines();
        Matcher last = AT_WORK.matcher(lines.get(lines.size() - 1));
        return last.matches() ? OptionalLong.of(Long.parseLong(last.group(1))) : OptionalLong.empty();
    }

    private static boolean hasWrittenAfter(long token, String name, Programs programs) {
        return programs.lines(name + " has written with token (\\d+)").stream()
                .anyMatch(line -> Long.parseLong(line.group(1)) > token);
    }

    private static List<Long> tokens(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(database);
                ResultSet rows = connection.createStatement().executeQuery("SELECT token FROM ledger ORDER BY entry")) {
            List<Long> tokens = new ArrayList<>();
            while (rows.next()) {
                tokens.add(rows.getLong(1));
            }
            return tokens;
        }
    }
}
