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
 * machines that ran it: they are for people, and nothing but this page depends on them. Up to {@link #MAX_SKEW}, a
 * clock that differs from the console's makes no task overdue.
 *
 * @param running the holder of its lock, unless that one's run was recorded and only its minimum time lasts
 * @param lastStart the newest start that is known; if that is in the future, when this console first read of it
 * @param usual the usual time from a start to the next
 * @param expectedBy when it is overdue unless it starts again; null if that is not known
 * @param isLongAgo whether it has not run for so long that it may have been removed or renamed
 * @param failures how many of the newest runs failed in a row
 */
record TaskReport(
        SeenTask task,
        State state,
        LockInfo.@Nullable Holder running,
        @Nullable Instant lastStart,
        @Nullable Duration usual,
        @Nullable Instant expectedBy,
        boolean isLongAgo,
        int failures) {

    /** In a word. */
    enum State {
        FAILING(true),
        OVERDUE(true),
        /** It was overdue for so long that no run is expected any more. */
        INACTIVE(false),
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

    /** How late a task may be: starts vary, and a history may have been read some seconds ago. */
    private static final Duration TOLERANCE = Duration.ofMinutes(1);

    /** How late one may be that runs at certain hours: in autumn, one of its intervals has an hour more. */
    private static final Duration TOLERANCE_OF_HOURS = Duration.ofMinutes(61);

    /** The shortest interval of such a task: two hours, as starts vary. */
    private static final Duration HOURS = Duration.ofMinutes(119);

    /** How far the clock of a machine may be behind the console's. */
    private static final Duration MAX_SKEW = Duration.ofMinutes(10);

    /** A task is overdue for this many usual intervals, */
    private static final int OVERDUE_INTERVALS = 10;

    /** and at least for this long. */
    private static final Duration OVERDUE_LEAST = Duration.ofDays(7);

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
        Instant last = isUnknown ? null : running != null ? starts.get(0) : earlier(starts.get(0), task.newestSeenAt());
        Instant expectedBy = usual == null || last == null || running != null
                ? null
                : latestStart(task, starts).plus(maxInterval(usual, intervals));
        boolean isOverdue = expectedBy != null && isOverdue(task, expectedBy, now);
        boolean isLongAgo = last != null && isLongAgo(expectedBy == null ? last : expectedBy, usual, now);
        int failures = failures(task.runs());
        State state;
        if (isOverdue && isLongAgo) {
            state = State.INACTIVE;
        } else if (failures >= FAILING_FROM) {
            state = State.FAILING;
        } else if (running != null) {
            state = State.RUNNING;
        } else if (isOverdue) {
            state = State.OVERDUE;
        } else {
            state = stateOfHistory(task);
        }
        return new TaskReport(task, state, running, last, usual, expectedBy, isLongAgo, failures);
    }

    /** Whether its next run is news: it is in trouble, or will be unless it has run unseen. */
    boolean isWatched(Instant now) {
        return !isLongAgo && (state.isTrouble || (expectedBy != null && now.isAfter(expectedBy)));
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

    /**
     * The latest time, by the console's clock, at which its newest run can have begun: before this console first read
     * of it, and at most {@link #MAX_SKEW} after the recorded start. So a machine whose clock is ahead doesn't hide
     * that its task stopped, and one whose clock is behind makes no task overdue that this console sees running. The
     * newest run may be of the slowest clock, so the greatest start counts.
     */
    private static Instant latestStart(SeenTask task, List<Instant> starts) {
        Instant greatest = starts.stream().max(Comparator.naturalOrder()).orElseThrow();
        return earlier(greatest.plus(MAX_SKEW), task.newestSeenAt());
    }

    private static Instant earlier(Instant one, Instant other) {
        return one.isBefore(other) ? one : other;
    }

    /**
     * Twenty-one twentieths of the usual interval; or as long as a pause among the recorded runs, such as a weekend.
     * Earlier pauses are not remembered: each outage would be one, and would keep the next outage from being reported.
     */
    private static Duration maxInterval(Duration usual, List<Duration> intervals) {
        Duration limit = usual.plus(longer(usual.dividedBy(20), tolerance(usual)));
        Duration longest = intervals.get(intervals.size() - 1);
        return longer(limit, longest.plus(tolerance(longest)));
    }

    private static Duration tolerance(Duration interval) {
        return interval.compareTo(HOURS) < 0 ? TOLERANCE : TOLERANCE_OF_HOURS;
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    private static boolean isLongAgo(Instant since, @Nullable Duration usual, Instant now) {
        Duration limit = usual == null ? OVERDUE_LEAST : longer(usual.multipliedBy(OVERDUE_INTERVALS), OVERDUE_LEAST);
        return Duration.between(since, now).compareTo(limit) > 0;
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
