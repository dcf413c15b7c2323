package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the console knows of one scheduled task. Guarded by the {@link SeenStore}. */
final class SeenTask {

    /** How old the history of a task on a screen may get. */
    static final Duration FRESH = Duration.ofSeconds(10);

    /** Other histories change with a run, which the polls of locks show unless it is shorter than their interval. */
    private static final Duration LASTS = Duration.ofMinutes(5);

    /** After a read that failed. */
    private static final Duration RETRY = Duration.ofMinutes(1);

    private final String name;
    private final boolean isNamed;
    private List<RecordedRun> runs = List.of();
    private Instant newestSeenAt = Instant.MAX;
    private @Nullable Instant readAt;
    private Instant triedAt = Instant.MIN;
    private @Nullable String problem;
    private Instant shownAt = Instant.MIN;
    private @Nullable Instant listedAt;
    private List<Long> tokens = List.of();
    private boolean hasChanged;

    /** @param isNamed whether its history is read though nothing else shows that there is one */
    SeenTask(String name, boolean isNamed) {
        this.name = name;
        this.isNamed = isNamed;
    }

    /** The record of its lock was read, or the store has none any more. */
    void listed(LockInfo info, Instant now) {
        List<Long> before = tokens;
        tokens = info.holders().stream().map(LockInfo.Holder::token).toList();
        hasChanged |= !tokens.equals(before);
        listedAt = now;
    }

    /** A viewer has it on the screen. */
    void shown(Instant now) {
        shownAt = now;
    }

    void read(List<RecordedRun> newest, Instant now) {
        if (!newestToken(newest).equals(newestToken(runs))) {
            newestSeenAt = newest.isEmpty() ? Instant.MAX : now;
        }
        runs = List.copyOf(newest);
        problem = null;
        hasChanged = false;
        readAt = now;
        triedAt = now;
    }

    void failed(String reason, Instant now) {
        problem = reason;
        triedAt = now;
    }

    /** Whether its history should be read again. Of an inactive task, a screen needs nothing newer. */
    boolean isDue(TaskReport report, Instant now) {
        boolean isNews = report.isWatched(now) || (isShown(now) && report.state() != TaskReport.State.INACTIVE);
        Duration age = problem != null ? RETRY : hasChanged ? Duration.ofSeconds(1) : isNews ? FRESH : LASTS;
        return !now.isBefore(triedAt.plus(age));
    }

    boolean isShown(Instant now) {
        return now.isBefore(shownAt.plus(FRESH));
    }

    /** Whether it is configured. */
    boolean isNamed() {
        return isNamed;
    }

    /** Whether it is worth a request though it is on no screen. */
    boolean isKept() {
        return isNamed || isKnown();
    }

    /** Whether it is more than a name that somebody typed. */
    boolean isKnown() {
        return listedAt != null || !runs.isEmpty() || (isNamed && problem != null);
    }

    /** Whether a read of its history was tried. */
    boolean isTried() {
        return triedAt.isAfter(Instant.MIN);
    }

    /** Whether it seems to have begun or ended a run since its history was read. */
    boolean hasChanged() {
        return hasChanged;
    }

    String name() {
        return name;
    }

    /** The recorded runs, newest first. */
    List<RecordedRun> runs() {
        return runs;
    }

    /** When this console first read of the newest run, which began before then; the distant future without a run. */
    Instant newestSeenAt() {
        return newestSeenAt;
    }

    /** When the history was read; null if it never was. */
    @Nullable
    Instant readAt() {
        return readAt;
    }

    /** Why the history can't be read; null if it can. */
    @Nullable
    String problem() {
        return problem;
    }

    /** When a read of the history was tried last. */
    Instant triedAt() {
        return triedAt;
    }

    /** When the polls saw its lock last. */
    Instant listedAt() {
        return listedAt == null ? Instant.MIN : listedAt;
    }

    private static Optional<Long> newestToken(List<RecordedRun> newestFirst) {
        return newestFirst.stream().map(RecordedRun::token).findFirst();
    }
}
