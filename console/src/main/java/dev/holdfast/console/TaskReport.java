package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.admin.RecordedRun.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a scheduled task fares, judged by its recorded runs and its present holder. Starts are by the clocks of the
 * machines that ran it: they are for people, and nothing but this page depends on them.
 *
 * @param running the holder of its lock, unless that one's run was recorded and only its minimum time lasts
 * @param lastStart the newest start that is known
 * @param usual the usual time from a start to the next
 * @param expectedBy when it is overdue unless it starts again; null if that is not known
 * @param failures how many of the newest runs failed in a row
 */
record TaskReport(
        SeenTask task,
        State state,
        LockInfo.@Nullable Holder running,
        @Nullable Instant lastStart,
        @Nullable Duration usual,
        @Nullable Instant expectedBy,
        int failures) {

    /** In a word. */
    enum State {
        FAILING(true),
        OVERDUE(true),
        RUNNING(false),
        FAILED(false),
        OK(false),
        /** A newer version of the program recorded the newest run. */
        UNKNOWN(false),
        /** No run was recorded. */
        NONE(false),
        UNREADABLE(false),
        UNREAD(false);

        final boolean isTrouble;

        State(boolean isTrouble) {
            this.isTrouble = isTrouble;
        }
    }

    private static final int FAILING_FROM = 2;
    private static final int LEAST_INTERVALS = 3;

    /** How late a task may be: clocks differ, and a history may have been read some seconds ago. */
    private static final Duration TOLERANCE = Duration.ofMinutes(1);

    static TaskReport of(SeenTask task, @Nullable SeenLock lock, Instant now) {
        LockInfo.Holder running = lock == null
                ? null
                : lock.info().holders().stream()
                        .filter(holder -> task.runs().stream().noneMatch(run -> holder.hasToken(run.token())))
                        .findFirst()
                        .orElse(null);
        List<Instant> starts = new ArrayList<>();
        if (lock != null && running != null) {
            starts.add(lock.since(running));
        }
        task.runs().stream().map(RecordedRun::started).flatMap(Optional::stream).forEach(starts::add);
        List<Duration> intervals = intervals(starts);
        Duration usual = intervals.size() < LEAST_INTERVALS ? null : intervals.get(intervals.size() / 2);
        boolean isUnknown = starts.isEmpty() || (isNewestUnknown(task) && running == null);
        Instant last = isUnknown ? null : starts.get(0);
        Instant expectedBy =
                usual == null || last == null || running != null ? null : last.plus(maxInterval(usual, intervals));
        int failures = failures(task.runs());
        State state;
        if (failures >= FAILING_FROM) {
            state = State.FAILING;
        } else if (running != null) {
            state = State.RUNNING;
        } else if (expectedBy != null && isOverdue(task, expectedBy, now)) {
            state = State.OVERDUE;
        } else {
            state = stateOfHistory(task);
        }
        return new TaskReport(task, state, running, last, usual, expectedBy, failures);
    }

    /** Whether its next run is news: it is in trouble, or will be unless it has run unseen. */
    boolean isWatched(Instant now) {
        return state.isTrouble || (expectedBy != null && now.isAfter(expectedBy));
    }

    /** The times between starts, from the shortest to the longest; without those of a clock that was set back. */
    private static List<Duration> intervals(List<Instant> starts) {
        List<Duration> intervals = new ArrayList<>();
        for (int i = 1; i < starts.size(); i++) {
            Duration interval = Duration.between(starts.get(i), starts.get(i - 1));
            if (!interval.isNegative()) {
                intervals.add(interval);
            }
        }
        intervals.sort(Comparator.naturalOrder());
        return intervals;
    }

    private static boolean isNewestUnknown(SeenTask task) {
        return !task.runs().isEmpty() && task.runs().get(0).started().isEmpty();
    }

    /** Twenty-one twentieths of the usual interval; or as long as a pause that its history has, such as a weekend. */
    private static Duration maxInterval(Duration usual, List<Duration> intervals) {
        Duration late = usual.dividedBy(20);
        Duration limit = usual.plus(late.compareTo(TOLERANCE) > 0 ? late : TOLERANCE);
        Duration longest = intervals.get(intervals.size() - 1);
        return longest.compareTo(limit) > 0 ? longest.plus(TOLERANCE) : limit;
    }

    /** Not by an older reading: the task may have run since. */
    private static boolean isOverdue(SeenTask task, Instant expectedBy, Instant now) {
        Instant readAt = task.readAt();
        return task.problem() == null
                && !task.hasChanged()
                && now.isAfter(expectedBy)
                && readAt != null
                && readAt.isAfter(expectedBy);
    }

    private static int failures(List<RecordedRun> newestFirst) {
        int failures = 0;
        for (RecordedRun run : newestFirst) {
            if (run.outcome() != Outcome.FAILED && run.outcome() != Outcome.LOST) {
                break;
            }
            failures++;
        }
        return failures;
    }

    private static State stateOfHistory(SeenTask task) {
        if (task.problem() != null) {
            return State.UNREADABLE;
        } else if (task.readAt() == null) {
            return State.UNREAD;
        } else if (task.runs().isEmpty()) {
            return State.NONE;
        }
        return switch (task.runs().get(0).outcome()) {
            case SUCCEEDED, CLOSED -> State.OK;
            case FAILED, LOST -> State.FAILED;
            case UNKNOWN -> State.UNKNOWN;
        };
    }
}
