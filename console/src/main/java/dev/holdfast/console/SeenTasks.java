package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The scheduled tasks that the console knows: those whose locks the polls have seen, and those that a viewer has asked
 * for by name. Stores have no list of histories, so a task that has not run lately may be missing. Guarded by the
 * {@link SeenStore}.
 */
final class SeenTasks {

    static final int MAX_TASKS = 1_000;

    /** A walk over all names takes some minutes at most: what was not seen for longer makes room for others. */
    private static final Duration STAYS = Duration.ofHours(1);

    private final Map<String, SeenTask> tasks = new LinkedHashMap<>();
    private boolean isTurnOfShown;

    /** Reads the histories of these, too, for as long as the console lives; those without any are not shown. */
    void name(Collection<String> names) {
        names.stream().limit(MAX_TASKS).forEach(name -> tasks.put(name, new SeenTask(name, true)));
    }

    /** The record of a task's lock was read. */
    void listed(LockInfo info, Instant now) {
        SeenTask task = tasks.get(info.name());
        if (task == null) {
            task = added(info.name(), now);
        }
        if (task != null) {
            task.listed(info, now);
        }
    }

    /**
     * Looks for a task by its whole name, for a viewer.
     *
     * @return whether its history was read already, or can't be
     */
    boolean search(String name, Instant now) {
        tasks.values().removeIf(task -> !task.isKept() && !task.isShown(now));
        SeenTask task = tasks.get(name);
        if (task == null) {
            task = added(name, now);
        }
        if (task != null) {
            task.shown(now);
        }
        return task == null || task.isTried();
    }

    private @Nullable SeenTask added(String name, Instant now) {
        if (tasks.size() >= MAX_TASKS) {
            Optional<SeenTask> oldest = tasks.values().stream()
                    .filter(task -> !task.isNamed() && !task.isShown(now))
                    .filter(task -> !task.listedAt().isAfter(now.minus(STAYS)))
                    .min(Comparator.comparing(SeenTask::listedAt));
            if (oldest.isEmpty()) {
                return null;
            }
            tasks.remove(oldest.get().name());
        }
        SeenTask task = new SeenTask(name, false);
        tasks.put(name, task);
        return task;
    }

    /**
     * The task whose history is to be read next, the one read longest ago: in turns first of those on screens, and of
     * the others, which many on a screen would keep waiting for ever.
     *
     * @param isOnlyShown whether others are left out
     */
    Optional<String> due(Function<SeenTask, TaskReport> reports, boolean isOnlyShown, Instant now) {
        isTurnOfShown = !isTurnOfShown;
        boolean isTurn = isTurnOfShown;
        return tasks.values().stream()
                .filter(task -> task.isShown(now) || (!isOnlyShown && task.isKept()))
                .filter(task -> task.isDue(reports.apply(task), now))
                .min(Comparator.comparing((SeenTask task) -> task.isShown(now) != isTurn)
                        .thenComparing(SeenTask::triedAt))
                .map(SeenTask::name);
    }

    /** A task on a screen whose history was never read. */
    Optional<String> neverRead(Instant now) {
        return tasks.values().stream()
                .filter(task -> task.isShown(now) && !task.isTried())
                .findFirst()
                .map(SeenTask::name);
    }

    void read(String name, List<RecordedRun> runs, Instant now) {
        SeenTask task = tasks.get(name);
        if (task != null) {
            task.read(runs, now);
        }
    }

    void failed(String name, String reason, Instant now) {
        SeenTask task = tasks.get(name);
        if (task != null) {
            task.failed(reason, now);
        }
    }

    /** The tasks that are known, without names that viewers typed and that have no history. */
    List<SeenTask> known() {
        return tasks.values().stream().filter(SeenTask::isKnown).toList();
    }

    /** The known ones with a text in their names, and one with this name whose history can't be read. */
    List<SeenTask> matching(String text) {
        return tasks.values().stream()
                .filter(task ->
                        task.isKnown() || (task.problem() != null && task.name().equals(text)))
                .filter(task -> LockTable.contains(task.name(), text.toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** The number of known ones. */
    long count() {
        return tasks.values().stream().filter(SeenTask::isKnown).count();
    }
}
