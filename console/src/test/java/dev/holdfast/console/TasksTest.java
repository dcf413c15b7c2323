package dev.holdfast.console;

import static dev.holdfast.console.Records.START;
import static dev.holdfast.console.Records.TTL;
import static dev.holdfast.console.Records.holder;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import dev.holdfast.spi.Kind;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The tasks of the console")
class TasksTest {

    private final ScriptedAdmin store = new ScriptedAdmin();
    private final ManualClock clock = new ManualClock();
    private final SeenStore seen = new SeenStore();
    private final StorePoller poller = new StorePoller(() -> Optional.of(store.admin()), "app:", seen, clock);

    @BeforeEach
    void noThread() {
        poller.close(); // the tests make the requests
    }

    private void put(String name, LockInfo.Holder... holders) {
        store.put(Records.of("app:" + name, Kind.TASK, List.of(holders), List.of()));
    }

    /** The history of a task that has started every so often until now. */
    private void history(String name, Duration every, Outcome... newestFirst) {
        List<RecordedRun> runs = new ArrayList<>();
        long newest = 100 + Duration.between(START, clock.instant()).toSeconds();
        for (int i = 0; i < newestFirst.length; i++) {
            Instant start = clock.instant().minus(every.multipliedBy(i));
            runs.add(run(newest - i, newestFirst[i], start));
        }
        store.runs.put("app:" + name, runs);
    }

    /** The history of a task that starts every minute until now, on a machine whose clock is ahead. */
    private List<RecordedRun> minutely(int newest, Duration ahead) {
        List<RecordedRun> runs = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            Instant start = clock.instant().plus(ahead).minus(Duration.ofMinutes(i));
            runs.add(run(newest - i, Outcome.SUCCEEDED, start));
        }
        return runs;
    }

    private static RecordedRun run(long token, Outcome outcome, Instant start) {
        String failure = outcome == Outcome.FAILED ? "java.io.IOException" : "";
        return new RecordedRun(token, outcome, start, start.plusSeconds(3), "batch@host-1", failure);
    }

    private static Outcome[] successes(int number) {
        Outcome[] outcomes = new Outcome[number];
        java.util.Arrays.fill(outcomes, Outcome.SUCCEEDED);
        return outcomes;
    }

    @CanIgnoreReturnValue
    private String tasks(String... query) {
        return new Views(seen, clock.instant())
                .tasks(new ViewQuery(query.length == 0 ? Map.of() : Map.of("q", query[0])))
                .toString();
    }

    private String overview() {
        return new Views(seen, clock.instant()).overview().toString();
    }

    private void poll(int times) {
        for (int i = 0; i < times; i++) {
            poller.poll();
        }
    }

    @Test
    @DisplayName("are those whose locks the polls see, with tokens as text, starts and outcomes of their runs")
    void runs() {
        put("report");
        store.put(Records.mutex("app:lock", List.of(), List.of()));
        history("report", Duration.ofHours(1), Outcome.SUCCEEDED, Outcome.FAILED);
        poll(1);
        assertThat(tasks()).contains("\"total\":1", "\"name\":\"report\",\"state\":\"unread\"");
        poll(1);
        assertThat(tasks())
                .contains("\"state\":\"ok\",\"trouble\":false,\"lastStart\":\"2026-11-27T02:00:00Z\"")
                .contains("{\"outcome\":\"ok\",\"from\":\"2026-11-27T02:00:00Z\",\"to\":\"2026-11-27T02:00:03Z\","
                        + "\"who\":\"batch@host-1\",\"token\":\"100\"}")
                .contains("\"outcome\":\"failed\"", "\"error\":\"java.io.IOException\"")
                .doesNotContain("everyMillis", "lock", "app:");
        assertThat(overview()).contains("\"tasks\":1").contains("\"findings\":[]");
    }

    @Test
    @DisplayName(
            "are read every ten seconds while they are on a screen, and otherwise after runs and every five minutes")
    void rhythmOfReads() {
        put("report");
        history("report", Duration.ofHours(1), successes(10));
        poll(4);
        assertThat(store.requests).containsOnlyOnce("runs app:report");
        clock.advance(SeenTask.FRESH);
        poll(4);
        assertThat(store.requests).as("on no screen").containsOnlyOnce("runs app:report");
        tasks();
        store.requests.clear();
        poll(4);
        assertThat(store.requests).as("on a screen").containsOnlyOnce("runs app:report");
        clock.advance(SeenTask.FRESH.plusSeconds(1));
        put("report", holder("p", 101, TTL));
        store.requests.clear();
        poll(4);
        assertThat(store.requests).as("begins to run").containsOnlyOnce("runs app:report");
        clock.advance(Duration.ofSeconds(2));
        store.locks.remove("app:report");
        store.requests.clear();
        poll(4);
        assertThat(store.requests).as("has run").containsOnlyOnce("runs app:report");
        clock.advance(Duration.ofMinutes(5));
        store.requests.clear();
        poll(4);
        assertThat(store.requests).as("not listed any more, and not forgotten").containsOnlyOnce("runs app:report");
    }

    @Test
    @DisplayName("take at most every other request, and never the turn of names with waiters")
    void budgetOfReads() {
        for (int i = 0; i < 20; i++) {
            put("t" + i);
        }
        poll(40);
        assertThat(store.requests)
                .hasSize(40)
                .filteredOn(request -> request.startsWith("runs"))
                .hasSize(20);
        store.pageSize = 7;
        clock.advance(Duration.ofHours(1));
        poll(4);
        store.requests.clear();
        poll(40);
        assertThat(store.requests)
                .hasSize(40)
                .filteredOn(request -> request.startsWith("waited"))
                .hasSize(20);
        assertThat(store.requests)
                .filteredOn(request -> request.startsWith("runs"))
                .hasSizeLessThanOrEqualTo(10);
    }

    @Test
    @DisplayName("are read three in a row when a screen shows them for the first time")
    void firstReads() {
        for (int i = 0; i < 4; i++) {
            put("t" + i);
        }
        poll(1);
        tasks();
        store.requests.clear();
        poll(6);
        assertThat(store.requests)
                .containsExactly(
                        "runs app:t0", "runs app:t1", "runs app:t2", "page after -", "runs app:t3", "page after -");
    }

    @Test
    @DisplayName("are overdue a twentieth of their usual interval late, if a reading since then shows no run")
    void overdue() {
        put("report");
        history("report", Duration.ofHours(1), successes(10));
        poll(2);
        clock.advance(Duration.ofMinutes(63));
        poll(2);
        assertThat(tasks()).contains("\"state\":\"ok\"", "\"everyMillis\":3600000");
        clock.advance(Duration.ofSeconds(1));
        assertThat(tasks()).as("not by an older reading").contains("\"state\":\"ok\"");
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(tasks()).contains("\"state\":\"overdue\",\"trouble\":true");
        assertThat(overview())
                .contains("\"kind\":\"Overdue\",\"trouble\":true")
                .contains("\"text\":\"Task report has not run for 1 h 3 min; it usually runs every 1 h\"");
        history("report", Duration.ofHours(1), successes(10));
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(tasks()).contains("\"state\":\"ok\"");
    }

    @Test
    @DisplayName("are not overdue in a pause that their history knows, nor before three intervals are known")
    void pauses() {
        put("weekdays");
        put("young");
        List<RecordedRun> runs = new ArrayList<>();
        for (int day : new int[] {0, 1, 2, 3, 4, 7, 8, 9, 10, 11}) {
            runs.add(run(100 - day, Outcome.SUCCEEDED, START.minus(Duration.ofDays(day))));
        }
        store.runs.put("app:weekdays", runs);
        history("young", Duration.ofHours(1), successes(3));
        poll(4);
        clock.advance(Duration.ofDays(3).plusHours(1));
        poll(4);
        assertThat(tasks()).contains("\"everyMillis\":86400000").doesNotContain("overdue");
        clock.advance(Duration.ofMinutes(2));
        poll(4);
        assertThat(tasks()).containsOnlyOnce("overdue");
    }

    @Test
    @DisplayName("that run every two hours or more are not overdue when the clocks are set back in autumn")
    void autumn() {
        put("two");
        put("nineteen");
        Duration almostTwo = Duration.ofHours(2).minusMillis(40); // starts vary
        history("two", almostTwo, successes(10));
        history("nineteen", Duration.ofHours(19), successes(10));
        poll(4);
        clock.advance(Duration.ofHours(3));
        poll(4);
        assertThat(tasks()).doesNotContain("overdue");
        clock.advance(Duration.ofMinutes(1));
        poll(4);
        assertThat(tasks()).containsOnlyOnce("overdue").contains("\"name\":\"two\",\"state\":\"overdue\"");
        clock.advance(Duration.ofHours(17));
        history("two", almostTwo, successes(10));
        poll(4);
        assertThat(tasks()).as("twenty hours and a minute").doesNotContain("overdue");
        clock.advance(SeenTask.FRESH);
        poll(4);
        assertThat(tasks()).contains("\"name\":\"nineteen\",\"state\":\"overdue\"");
    }

    @Test
    @DisplayName("are no trouble any more, and read every five minutes, after a week and ten intervals overdue")
    void inactive() {
        put("hourly");
        put("daily");
        history("hourly", Duration.ofHours(1), Outcome.FAILED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED);
        history("daily", Duration.ofDays(1), successes(10));
        poll(4);
        clock.advance(Duration.ofMinutes(63).plusDays(7));
        poll(4);
        assertThat(tasks())
                .contains("\"name\":\"hourly\",\"state\":\"failing\"", "\"name\":\"daily\",\"state\":\"overdue\"");
        clock.advance(SeenTask.FRESH);
        assertThat(tasks()).contains("\"name\":\"hourly\",\"state\":\"inactive\",\"trouble\":false");
        assertThat(overview()).contains("Task daily has not run").doesNotContain("Task hourly");
        store.requests.clear();
        poll(4);
        assertThat(store.requests).as("on a screen").contains("runs app:daily").doesNotContain("runs app:hourly");
        clock.advance(Duration.ofMinutes(5));
        poll(4);
        assertThat(store.requests).containsOnlyOnce("runs app:hourly");
        clock.advance(Duration.ofDays(5));
        poll(4);
        assertThat(tasks())
                .contains("\"name\":\"daily\",\"state\":\"inactive\"")
                .doesNotContain("overdue");
        history("hourly", Duration.ofHours(1), successes(10));
        clock.advance(Duration.ofMinutes(5));
        poll(4);
        assertThat(tasks()).as("runs again").contains("\"name\":\"hourly\",\"state\":\"ok\"");
    }

    @Test
    @DisplayName("that failed twice and have no usual interval are read every five minutes after a week")
    void failedLongAgo() {
        put("report");
        history("report", Duration.ofHours(1), Outcome.FAILED, Outcome.FAILED);
        clock.advance(Duration.ofDays(7).plusSeconds(1));
        poll(2);
        store.requests.clear();
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(overview()).contains("Task report has failed in all 2 runs");
        assertThat(store.requests).doesNotContain("runs app:report");
        clock.advance(Duration.ofMinutes(5));
        poll(2);
        assertThat(store.requests).containsOnlyOnce("runs app:report");
    }

    @Test
    @DisplayName("are not overdue because the clock of their machine is some minutes behind")
    void slowClock() {
        put("report");
        for (int second = 0; second < 720; second += 5) {
            if (second % 60 == 0 && second <= 600) {
                store.runs.put("app:report", minutely(100 + second / 60, Duration.ofMinutes(-5)));
            }
            poll(2);
            assertThat(tasks()).contains("\"everyMillis\":60000").doesNotContain("overdue");
            clock.advance(Duration.ofSeconds(5));
        }
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(tasks()).as("no run seen for two minutes").contains("overdue");
    }

    @Test
    @DisplayName("are overdue in time although the clock of their machine is ahead, and never start in the future")
    void fastClock() {
        put("report");
        store.runs.put("app:report", minutely(100, Duration.ofHours(1)));
        poll(2);
        assertThat(tasks()).contains("\"state\":\"ok\"", "\"lastStart\":\"2026-11-27T02:00:00Z\"");
        clock.advance(Duration.ofMinutes(2));
        poll(2);
        assertThat(tasks()).doesNotContain("overdue");
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(tasks()).contains("\"state\":\"overdue\"");
        assertThat(overview()).contains("Task report has not run for 2 min 10 s; it usually runs every 1 min");
    }

    @Test
    @DisplayName("are not overdue when the newest of their runs was on a machine whose clock is an hour behind")
    void clocksThatDiffer() {
        put("report");
        List<RecordedRun> runs = minutely(100, Duration.ofMinutes(-1));
        runs.add(0, run(101, Outcome.SUCCEEDED, START.minus(Duration.ofHours(1))));
        store.runs.put("app:report", runs.subList(0, 10));
        poll(2);
        clock.advance(SeenTask.FRESH);
        poll(2);
        assertThat(tasks()).contains("\"everyMillis\":60000", "\"state\":\"ok\"");
    }

    @Test
    @DisplayName("fail from two failures or losses in a row on, also while they run")
    void failing() {
        put("report");
        history("report", Duration.ofHours(1), Outcome.FAILED, Outcome.SUCCEEDED, Outcome.FAILED);
        poll(2);
        assertThat(tasks()).contains("\"state\":\"failed\",\"trouble\":false");
        clock.advance(Duration.ofHours(1));
        history("report", Duration.ofHours(1), Outcome.FAILED, Outcome.LOST, Outcome.SUCCEEDED);
        put("report", holder("p", 300, TTL));
        poll(2);
        assertThat(tasks()).contains("\"state\":\"failing\",\"trouble\":true", "\"outcome\":\"running\"");
        assertThat(overview())
                .contains(
                        "\"text\":\"Task report has failed in its last 2 runs, the newest with java.io.IOException\"");
    }

    @Test
    @DisplayName("run while they have a holder, unless its run was recorded and only its minimum time lasts")
    void running() {
        put("report", holder("p", 101, TTL));
        history("report", Duration.ofHours(1), successes(3));
        poll(2);
        assertThat(tasks())
                .contains(
                        "\"state\":\"running\"",
                        "{\"outcome\":\"running\",\"from\":\"2026-11-27T02:00:00Z\",\"who\":\"p\"");
        put("report", holder("p", 100, TTL));
        poll(2);
        assertThat(tasks()).contains("\"state\":\"ok\"").doesNotContain("running");
    }

    @Test
    @DisplayName("are neither silent nor lost when their leases drain, which nobody renews")
    void leases() {
        for (int second = 0; second <= 25; second++) {
            LockInfo info = Records.of(
                    "report",
                    Kind.TASK,
                    List.of(new LockInfo.Holder(
                            "p", "s-p", 5, 1, 5, 5, START, TTL.minusSeconds(second), TTL, "", List.of())),
                    List.of());
            seen.readPage(List.of(info), List.of(), true, true, START.plusSeconds(second));
        }
        assertThat(new Views(seen, START.plusSeconds(25)).overview().toString())
                .contains("\"findings\":[]", "\"silentSessions\":0");
        seen.readPage(List.of(), List.of(), true, true, START.plusSeconds(31));
        assertThat(new Views(seen, START.plusSeconds(31)).overview().toString()).contains("\"findings\":[]");
    }

    @Test
    @DisplayName("whose runs a newer version recorded are neither overdue nor failing, and say so")
    void newerVersion() {
        put("report");
        history("report", Duration.ofHours(1), Outcome.FAILED, Outcome.FAILED, Outcome.FAILED, Outcome.FAILED);
        store.runs.computeIfPresent("app:report", (name, runs) -> {
            List<RecordedRun> all = new ArrayList<>(runs);
            all.add(0, new RecordedRun(9_007_199_254_740_993L, Outcome.UNKNOWN, null, null, "", ""));
            return all;
        });
        clock.advance(Duration.ofDays(9));
        poll(2);
        assertThat(tasks())
                .contains("\"state\":\"unknown\",\"trouble\":false")
                .contains("{\"outcome\":\"unknown\",\"token\":\"9007199254740993\"}")
                .doesNotContain("lastStart");
        assertThat(overview()).contains("\"findings\":[]");
    }

    @Test
    @DisplayName("whose runs can't be read say why, and the rest of the store stays reachable")
    void unreadable() {
        put("report");
        store.runsFailure = new StoreRefusedException("the table holdfast_run is missing", "report", "store", null);
        poll(6);
        assertThat(tasks()).contains("\"state\":\"unreadable\"", "\"problem\":\"the table holdfast_run is missing\"");
        assertThat(overview()).contains("\"findings\":[]");
        assertThat(seen.awaySince()).isNull();
        assertThat(store.requests).containsOnlyOnce("runs app:report");
        store.runsFailure = new StoreUnavailableException("no answer", "report", "store", null);
        clock.advance(Duration.ofMinutes(1));
        poll(3);
        assertThat(tasks()).contains("\"problem\":\"no answer\"");
        assertThat(seen.awaySince()).isNull();
        store.runsFailure = null;
        clock.advance(Duration.ofMinutes(1));
        poll(2);
        assertThat(tasks()).contains("\"state\":\"none\"").doesNotContain("problem");
    }

    @Test
    @DisplayName(
            "are found by a whole name if a run is recorded under it, and names that were typed cost nothing later")
    void lookUp() {
        history("weekly", Duration.ofDays(7), successes(10));
        poll(1);
        assertThat(tasks("week")).contains("\"total\":0", "\"pending\":true");
        assertThat(tasks("weekly")).contains("\"total\":0", "\"pending\":true");
        poll(4);
        assertThat(store.requests).contains("runs app:week", "runs app:weekly");
        assertThat(tasks("week")).contains("\"total\":1", "\"pending\":false", "\"name\":\"weekly\"");
        clock.advance(Duration.ofHours(1));
        tasks("other");
        store.requests.clear();
        poll(8);
        assertThat(store.requests).contains("runs app:weekly", "runs app:other").doesNotContain("runs app:week");
    }

    @Test
    @DisplayName("that somebody has named are shown if they have run")
    void named() {
        seen.tasks().name(List.of("weekly", "never"));
        history("weekly", Duration.ofDays(7), successes(10));
        poll(5);
        assertThat(tasks()).contains("\"total\":1", "\"name\":\"weekly\"");
        tasks("other");
        clock.advance(Duration.ofMinutes(5));
        store.requests.clear();
        poll(6);
        assertThat(store.requests).contains("runs app:weekly", "runs app:never").doesNotContain("runs app:other");
    }

    @Test
    @DisplayName("are a thousand at most; those not seen for an hour make room")
    void bound() {
        for (int i = 0; i < SeenTasks.MAX_TASKS; i++) {
            put("t%04d".formatted(i));
        }
        poll(2);
        store.locks.clear();
        put("new");
        poll(1);
        assertThat(seen.tasks().count()).isEqualTo(SeenTasks.MAX_TASKS);
        assertThat(tasks("new")).contains("\"total\":0");
        clock.advance(Duration.ofHours(2));
        poll(6);
        assertThat(tasks("new")).contains("\"total\":1");
        assertThat(seen.tasks().count()).isEqualTo(SeenTasks.MAX_TASKS);
    }

    @Test
    @DisplayName("stay if they are configured, and one on a screen keeps no other from making room")
    void configuredStay() {
        seen.tasks().name(List.of("weekly"));
        history("weekly", Duration.ofDays(7), successes(10));
        for (int i = 1; i < SeenTasks.MAX_TASKS; i++) {
            put("t%04d".formatted(i));
        }
        poll(2);
        store.locks.clear();
        assertThat(tasks("typed")).as("all were seen lately").contains("\"pending\":false");
        clock.advance(Duration.ofHours(2));
        tasks("t0001");
        for (String name : List.of("typed", "other")) {
            history(name, Duration.ofHours(1), successes(10));
            assertThat(tasks(name)).contains("\"pending\":true");
            poll(6);
            assertThat(tasks(name)).contains("\"total\":1");
        }
        assertThat(tasks("weekly")).contains("\"total\":1");
        assertThat(tasks("t0001")).contains("\"total\":1");
        assertThat(tasks("t0002")).contains("\"total\":0");
    }
}
