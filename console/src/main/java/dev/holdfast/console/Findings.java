package dev.holdfast.console;

import dev.holdfast.admin.DamagedLock;
import dev.holdfast.admin.RecordedRun;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What needs attention, worst first, each as a sentence. */
final class Findings {

    /** The kinds, in the order in which they are listed. */
    enum Kind {
        DEADLOCK("Deadlock", true),
        DAMAGED("Damaged", true),
        HELD_LONG("Held long", true),
        SILENT("Silent", true),
        LOST("Lost", false),
        RELEASED("Released", false),
        OVERDUE("Overdue", true),
        FAILING("Failing", true);

        final String word;
        final boolean isTrouble;

        Kind(String word, boolean isTrouble) {
            this.word = word;
            this.isTrouble = isTrouble;
        }
    }

    /**
     * One finding.
     *
     * @param at since when
     * @param name the lock to show, if there is one
     * @param parts text, then a name, then text, and so on: names are set in another type
     */
    record Finding(Kind kind, Instant at, @Nullable String name, List<String> parts) {

        String text() {
            return String.join("", parts);
        }
    }

    /** A hold is long from this many times the usual one on. */
    static final int LONG_FACTOR = 5;

    private static final Duration LONG_LEAST = Duration.ofMinutes(1);
    private static final Duration RECENT = Duration.ofMinutes(15);
    private static final int MAX_OF_A_KIND = 3;
    private static final int MAX_NAMES = 4;

    private final List<Finding> all = new ArrayList<>();
    private final Instant now;

    private Findings(Instant now) {
        this.now = now;
    }

    /** The findings at a time; more than three of a kind are folded into one line. */
    static List<Finding> of(SeenStore seen, BlockingForest forest, Instant now) {
        Findings findings = new Findings(now);
        forest.cycles().forEach(findings::addDeadlock);
        seen.damaged().forEach(findings::addDamaged);
        forest.roots().forEach(findings::addLong);
        SeenSessions.of(seen.locks(), now).forEach(findings::addSilent);
        seen.losses().forEach(findings::addLoss);
        seen.tasks().known().forEach(task -> findings.addTask(seen.report(task, now)));
        return findings.folded();
    }

    private void addDeadlock(BlockingForest.Cycle cycle) {
        int size = cycle.actors().size();
        List<String> parts = new ArrayList<>();
        for (BlockingForest.Actor actor : cycle.actors().subList(0, Math.min(size, MAX_NAMES))) {
            parts.add(parts.isEmpty() ? size + " threads wait for each other: " : " → ");
            parts.add(Objects.requireNonNull(actor.awaits));
        }
        long behind = cycle.countBehind();
        parts.add((size > MAX_NAMES ? " → …" : "")
                + (behind == 0 ? "" : ". " + Words.count(behind, "more waits", "more wait") + " behind them"));
        all.add(new Finding(Kind.DEADLOCK, cycle.youngest().since, null, parts));
    }

    private void addDamaged(DamagedLock damaged) {
        all.add(new Finding(
                Kind.DAMAGED,
                now,
                damaged.name(),
                List.of("The record of ", damaged.name(), " can't be read: " + damaged.reason())));
    }

    /** A holder that waits itself is a symptom, and no root. */
    private void addLong(BlockingForest.Actor root) {
        for (BlockingForest.Held hold : root.holds) {
            SeenLock lock = hold.lock();
            long times = timesUsual(lock, now);
            if (times >= LONG_FACTOR) {
                all.add(new Finding(
                        Kind.HELD_LONG,
                        lock.since(hold.holder()),
                        lock.name(),
                        List.of(
                                "",
                                lock.name(),
                                " is held by " + Words.label(root.label) + ", " + times + " times as long as usual. "
                                        + Words.count(root.countBehind(), "claim waits", "claims wait")
                                        + " behind it")));
            }
        }
    }

    /** How many times as long as usual a lock has been held, if that is worth mentioning; otherwise 0. */
    static long timesUsual(SeenLock lock, Instant now) {
        Duration usual = lock.usual();
        Instant since = lock.heldSince();
        if (usual == null || since == null || lock.waiting() == 0 || lock.info().kind() == dev.holdfast.spi.Kind.TASK) {
            return 0;
        }
        Duration length = Duration.between(since, now);
        boolean isLong = length.compareTo(LONG_LEAST) > 0 && length.compareTo(usual.multipliedBy(LONG_FACTOR)) > 0;
        return isLong ? length.toMillis() / Math.max(1, usual.toMillis()) : 0;
    }

    private void addSilent(SeenSessions.Session session) {
        if (!session.isSilent() || session.holds().isEmpty()) {
            return;
        }
        int holds = session.holds().size();
        String left = Words.duration(session.left(now));
        String silence = Words.label(session.label()) + " has sent no keep-alive for "
                + Words.duration(session.silence(now)) + ". ";
        List<String> parts = holds == 1
                ? List.of(silence, session.holds().get(0), " ends in " + left + " unless it returns")
                : List.of(silence + "Its " + holds + " holds end in " + left + " unless it returns");
        all.add(new Finding(Kind.SILENT, now.minus(session.silence(now)), null, parts));
    }

    private void addLoss(SeenStore.Lost lost) {
        SeenHold hold = lost.hold();
        if (hold.to().isBefore(now.minus(RECENT))) {
            return;
        }
        boolean isForced = hold.end() == SeenHold.End.FORCED;
        all.add(new Finding(
                isForced ? Kind.RELEASED : Kind.LOST,
                hold.to(),
                lost.name(),
                isForced
                        ? List.of(
                                "",
                                lost.name(),
                                " was taken from " + Words.label(hold.process()) + " by force (token ",
                                Long.toString(hold.token()),
                                ")")
                        : List.of(
                                Words.label(hold.process()) + " lost ",
                                lost.name(),
                                " because its lease expired (token ",
                                Long.toString(hold.token()),
                                ")")));
    }

    private void addTask(TaskReport report) {
        String name = report.task().name();
        if (report.state() == TaskReport.State.FAILING) {
            RecordedRun last = report.task().runs().get(0);
            boolean areAll = report.failures() == report.task().runs().size();
            String how = last.outcome() == RecordedRun.Outcome.LOST
                    ? ", the newest because it lost its lock"
                    : last.failure().isEmpty() ? "" : ", the newest with " + last.failure();
            all.add(new Finding(
                    Kind.FAILING,
                    last.ended().orElse(now),
                    null,
                    List.of(
                            "Task ",
                            name,
                            " has failed in " + (areAll ? "all " : "its last ") + report.failures() + " runs" + how)));
        } else if (report.state() == TaskReport.State.OVERDUE) {
            Instant last = Objects.requireNonNull(report.lastStart());
            all.add(new Finding(
                    Kind.OVERDUE,
                    last,
                    null,
                    List.of(
                            "Task ",
                            name,
                            " has not run for " + Words.duration(Duration.between(last, now))
                                    + "; it usually runs every "
                                    + Words.duration(Objects.requireNonNull(report.usual())))));
        }
    }

    private List<Finding> folded() {
        Map<Kind, List<Finding>> kinds = new EnumMap<>(Kind.class);
        for (Finding finding : all) {
            kinds.computeIfAbsent(finding.kind(), kind -> new ArrayList<>()).add(finding);
        }
        List<Finding> few = new ArrayList<>();
        kinds.forEach((kind, findings) -> {
            findings.sort(
                    kind.isTrouble
                            ? Comparator.comparing(Finding::at)
                            : Comparator.comparing(Finding::at).reversed());
            few.addAll(findings.subList(0, Math.min(MAX_OF_A_KIND, findings.size())));
            int more = findings.size() - MAX_OF_A_KIND;
            if (more > 0) {
                few.add(new Finding(
                        kind, findings.get(MAX_OF_A_KIND).at(), null, List.of(more + " more of this kind")));
            }
        });
        return few;
    }
}
