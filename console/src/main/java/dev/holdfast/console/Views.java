package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
import dev.holdfast.admin.RecordedRun;
import dev.holdfast.spi.Command.RecordRun;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The views as JSON. Each method reads the {@link SeenStore} and is called inside of {@link SeenStore#read}. */
final class Views {

    private static final int MAX_HOLDERS = 3;
    private static final int MAX_DOTS = 8;
    private static final int MAX_QUEUE = 100;
    private static final int MAX_NODES = 500;
    private static final int MAX_CHIPS = 4;

    private final SeenStore seen;
    private final Instant now;
    private final BlockingForest forest;

    Views(SeenStore seen, Instant now) {
        this.seen = seen;
        this.now = seen.shownAt(now);
        forest = new BlockingForest(seen.locks());
    }

    /** The figures and what needs attention, without what is fixed for a console. */
    JsonObject overview() {
        Collection<SeenLock> locks = seen.locks();
        List<SeenSessions.Session> sessions = SeenSessions.of(locks, now);
        List<SeenStore.Lost> lost = seen.losses().stream()
                .filter(each -> each.hold().to().isAfter(now.minus(Duration.ofHours(1))))
                .toList();
        JsonObject counts = new JsonObject()
                .put("locks", locks.size())
                .put("held", locks.stream().filter(lock -> lock.info().isHeld()).count())
                .put(
                        "holders",
                        locks.stream().mapToLong(lock -> lock.info().holding()).sum())
                .put(
                        "holdingSessions",
                        sessions.stream()
                                .filter(each -> !each.holds().isEmpty())
                                .count())
                .put("waiting", locks.stream().mapToLong(SeenLock::waiting).sum())
                .put("waited", locks.stream().filter(lock -> lock.waiting() > 0).count())
                .put("sessions", sessions.size())
                .put("tasks", seen.tasks().count())
                .put(
                        "silentSessions",
                        sessions.stream().filter(SeenSessions.Session::isSilent).count())
                .put("deadlocks", forest.cycles().size())
                .put("lostLastHour", lost.size());
        if (!lost.isEmpty()) {
            counts.put("lastLoss", lost.get(lost.size() - 1).hold().to());
        }
        return new JsonObject()
                .put("at", now)
                .put("complete", seen.isComplete())
                .put("seenSince", seen.startedAt())
                .put("counts", counts)
                .put("oldestWait", oldestWait(locks))
                .put(
                        "findings",
                        Findings.of(seen, forest, now).stream()
                                .map(Views::finding)
                                .toList())
                .put(
                        "series",
                        new JsonObject()
                                .put(
                                        "held",
                                        seen.samples().stream()
                                                .map(SeenStore.Sample::holders)
                                                .toList())
                                .put(
                                        "waiting",
                                        seen.samples().stream()
                                                .map(SeenStore.Sample::waiting)
                                                .toList())
                                .put(
                                        "roundTripMicros",
                                        seen.samples().stream()
                                                .map(SeenStore.Sample::roundTripMicros)
                                                .toList()));
    }

    /** The same for a terminal. */
    StoreSummary summary(LockTable.Request request) {
        LockTable table = LockTable.of(seen.locks(), request, now);
        return new StoreSummary(
                progress(),
                now,
                seen.awaySince() == null ? Optional.empty() : Optional.of(seen.problem()),
                Duration.ofNanos(seen.roundTripMicros() * 1_000),
                seen.locks().stream().mapToLong(lock -> lock.info().holding()).sum(),
                seen.locks().stream().mapToLong(SeenLock::waiting).sum(),
                Findings.of(seen, forest, now).stream()
                        .map(finding -> finding.kind().word + ": " + finding.text())
                        .toList(),
                table.total(),
                table.rows().stream().map(this::summary).toList());
    }

    private StoreSummary.Progress progress() {
        return seen.isComplete()
                ? StoreSummary.Progress.COMPLETE
                : seen.startedAt() == null ? StoreSummary.Progress.CONNECTING : StoreSummary.Progress.READING;
    }

    private StoreSummary.Lock summary(SeenLock lock) {
        LockInfo info = lock.info();
        List<SeenLease> leases = info.holders().stream().map(lock::lease).toList();
        Optional<SeenLease> shortest = leases.stream().min(Comparator.comparing(lease -> lease.left(now)));
        return new StoreSummary.Lock(
                lock.name(),
                word(info.kind()),
                info.holders().isEmpty()
                        ? ""
                        : info.holding() == 1 ? described(info.holders().get(0)) : info.holding() + " holders",
                Optional.ofNullable(lock.heldSince()).map(since -> Duration.between(since, now)),
                shortest.map(lease -> lease.left(now)),
                shortest.filter(lease -> lease.state() == SeenLease.State.DRAINING)
                        .isPresent(),
                info.waiting(),
                Optional.ofNullable(lock.waitedSince()).map(since -> Duration.between(since, now)),
                lock.heat(now).get(SeenLock.HEAT_MINUTES - 2),
                mark(lock));
    }

    private static String described(LockInfo.Holder holder) {
        return holder.label() + (holder.message().isEmpty() ? "" : ": " + holder.message());
    }

    private String mark(SeenLock lock) {
        long times = Findings.timesUsual(lock, now);
        return forest.isInCycle(lock)
                ? "deadlock"
                : waitsItself(lock) ? "holder waits" : times > 0 ? times + "x usual" : "";
    }

    private boolean waitsItself(SeenLock lock) {
        return lock.info().holders().stream().anyMatch(holder -> forest.waitingOwner(holder) != null);
    }

    private Optional<JsonObject> oldestWait(Collection<SeenLock> locks) {
        return locks.stream()
                .filter(lock -> lock.waitedSince() != null)
                .min(Comparator.comparing(
                        lock -> Optional.ofNullable(lock.waitedSince()).orElse(now)))
                .map(lock -> new JsonObject().put("name", lock.name()).put("since", lock.waitedSince()));
    }

    private static JsonObject finding(Findings.Finding finding) {
        return new JsonObject()
                .put("kind", finding.kind().word)
                .put("trouble", finding.kind().isTrouble)
                .put("at", finding.at())
                .put("name", finding.name())
                .put("parts", finding.parts())
                .put("text", finding.text());
    }

    JsonObject locks(ViewQuery query) {
        LockTable.Request request = LockTable.Request.of(query);
        LockTable table = LockTable.of(seen.locks(), request, now);
        return new JsonObject()
                .put("at", now)
                .put("total", table.total())
                .put("offset", request.offset())
                .put("locks", table.rows().stream().map(this::row).toList());
    }

    private JsonObject row(SeenLock lock) {
        LockInfo info = lock.info();
        List<JsonObject> flags = new ArrayList<>();
        long times = Findings.timesUsual(lock, now);
        if (forest.isInCycle(lock)) {
            flags.add(new JsonObject().put("kind", "deadlock"));
        } else if (waitsItself(lock)) {
            flags.add(new JsonObject().put("kind", "holder-waits"));
        } else if (times > 0) {
            flags.add(new JsonObject().put("kind", "long").put("times", times));
        }
        return new JsonObject()
                .put("name", lock.name())
                .put("kind", word(info.kind()))
                .put("order", word(info.order()))
                .put("capacity", info.capacity())
                .put("used", info.usedCapacity())
                .put("holding", info.holding())
                .put(
                        "holders",
                        info.holders().stream()
                                .limit(MAX_HOLDERS)
                                .map(holder -> holder(lock, holder))
                                .toList())
                .put("heldSince", lock.heldSince())
                .put("standsBy", lock.standsBy())
                .put("waiting", info.waiting())
                .put(
                        "waiters",
                        info.waiters().stream().limit(MAX_DOTS).map(lock::since).toList())
                .put("waitedSince", lock.waitedSince())
                .put("heat", lock.heat(now))
                .put("flags", flags)
                .put("readAt", lock.readAt());
    }

    private JsonObject holder(SeenLock lock, LockInfo.Holder holder) {
        SeenLease lease = lock.lease(holder);
        BlockingForest.Actor owner = forest.waitingOwner(holder);
        return new JsonObject()
                .put("label", holder.label())
                .put("message", holder.message().isEmpty() ? null : holder.message())
                .put("session", holder.session())
                .put("claim", Long.toString(holder.claim()))
                .put("weight", holder.weight())
                .put("token", holder.token() == 0 ? null : Long.toString(holder.token()))
                .put("since", lock.since(holder))
                .put("lease", lease.state().word())
                .put("leaseLeftMillis", lease.left(now))
                .put("leaseMillis", lease.length())
                .put("waitsFor", owner == null ? null : owner.awaits);
    }

    /**
     * One lock.
     *
     * @return null if nothing is known of the name
     */
    @Nullable
    JsonObject lock(String name) {
        SeenLock lock = seen.lock(name);
        if (lock == null) {
            return null;
        }
        LockInfo info = lock.info();
        return row(lock)
                .put("at", now)
                .put(
                        "holders",
                        info.holders().stream()
                                .limit(MAX_QUEUE)
                                .map(holder -> holder(lock, holder))
                                .toList())
                .put(
                        "queue",
                        info.waiters().stream()
                                .limit(MAX_QUEUE)
                                .map(waiter -> waiter(lock, waiter))
                                .toList())
                .put("newestToken", info.newestToken() == 0 ? null : Long.toString(info.newestToken()))
                .put("holds", lock.ended().stream().map(Views::hold).toList())
                .put("seenSince", seen.startedAt())
                .put("usualMillis", lock.usual())
                .put("why", Ticket.text(lock, forest, now));
    }

    private JsonObject waiter(SeenLock lock, LockInfo.Waiter waiter) {
        BlockingForest.Actor actor = forest.waiter(waiter);
        boolean holds = actor != null && !actor.holds.isEmpty();
        return new JsonObject()
                .put("label", waiter.label())
                .put("session", waiter.session())
                .put("claim", Long.toString(waiter.claim()))
                .put("weight", waiter.weight())
                .put("since", lock.since(waiter))
                .put("holds", actor != null && holds ? names(actor) : null)
                .put("behind", actor != null && holds ? actor.countBehind() : null);
    }

    private static List<String> names(BlockingForest.Actor actor) {
        return chips(actor.holds.stream().map(hold -> hold.lock().name()).toList());
    }

    private static JsonObject hold(SeenHold hold) {
        return new JsonObject()
                .put("process", hold.process())
                .put("token", Long.toString(hold.token()))
                .put("from", hold.from())
                .put("to", hold.to())
                .put("waitedMillis", hold.waited())
                .put("end", hold.end().word())
                .put("handOvers", hold.handOvers());
    }

    JsonObject blocking(ViewQuery query) {
        Instant latest = now.minusSeconds(query.number("least", 5, 0, 86_400));
        Nodes nodes = new Nodes();
        List<JsonObject> deadlocks = forest.cycles().stream()
                .map(nodes::cycle)
                .flatMap(Optional::stream)
                .toList();
        List<BlockingForest.Actor> roots = forest.roots();
        List<JsonObject> trees = roots.stream()
                .filter(root -> !root.oldestWait().isAfter(latest))
                .map(nodes::node)
                .flatMap(Optional::stream)
                .toList();
        return new JsonObject()
                .put("at", now)
                .put(
                        "waiting",
                        seen.locks().stream().mapToLong(SeenLock::waiting).sum())
                .put(
                        "hidden",
                        roots.stream()
                                .filter(root -> root.oldestWait().isAfter(latest))
                                .count())
                .put("deadlocks", deadlocks)
                .put("roots", trees)
                .put("cut", nodes.cut == 0 ? null : nodes.cut);
    }

    /** Writes actors and those behind them, up to a number. */
    private static final class Nodes {
        private int written;
        private long cut;

        Optional<JsonObject> cycle(BlockingForest.Cycle cycle) {
            if (written >= MAX_NODES) {
                cut += cycle.actors().size() + cycle.countBehind();
                return Optional.empty();
            }
            return Optional.of(new JsonObject()
                    .put("since", cycle.youngest().since)
                    .put("behind", cycle.countBehind())
                    .put("youngest", cycle.actors().indexOf(cycle.youngest()))
                    .put(
                            "actors",
                            cycle.actors().stream()
                                    .map(actor -> written(actor).put("held", nameOf(cycle.hold(actor))))
                                    .toList()));
        }

        private static @Nullable String nameOf(BlockingForest.@Nullable Held hold) {
            return hold == null ? null : hold.lock().name();
        }

        Optional<JsonObject> node(BlockingForest.Actor actor) {
            if (written >= MAX_NODES) {
                cut += 1 + actor.countBehind();
                return Optional.empty();
            }
            return Optional.of(written(actor));
        }

        private JsonObject written(BlockingForest.Actor actor) {
            written++;
            BlockingForest.Held first = actor.holds.isEmpty() ? null : actor.holds.get(0);
            List<JsonObject> children = actor.behind.stream()
                    .map(this::node)
                    .flatMap(Optional::stream)
                    .toList();
            cut += actor.unlisted();
            return new JsonObject()
                    .put("label", actor.label)
                    .put("thread", actor.thread().isEmpty() ? null : actor.thread())
                    .put("holds", names(actor))
                    .put("heldSince", first == null ? null : first.lock().since(first.holder()))
                    .put("waits", actor.awaits)
                    .put("waitsSince", actor.awaits == null ? null : actor.since)
                    .put("behind", actor.countBehind())
                    .put("children", children);
        }
    }

    JsonObject sessions(ViewQuery query) {
        int offset = query.number("offset", 0, 0, SeenStore.MAX_NAMES);
        int limit = query.number("limit", 100, 1, 500);
        List<SeenSessions.Session> sessions = SeenSessions.of(seen.locks(), now);
        return new JsonObject()
                .put("at", now)
                .put("total", sessions.size())
                .put(
                        "sessions",
                        sessions.stream()
                                .skip(offset)
                                .limit(limit)
                                .map(this::session)
                                .toList());
    }

    private JsonObject session(SeenSessions.Session session) {
        boolean isKnown = session.state() != SeenLease.State.UNKNOWN;
        return new JsonObject()
                .put("session", session.id())
                .put("label", session.label())
                .put("state", session.state().word())
                .put("ttlMillis", isKnown ? session.ttl() : null)
                .put("silentMillis", isKnown ? session.silence(now) : null)
                .put("leftMillis", isKnown ? session.left(now) : null)
                .put("holding", session.holds().size())
                .put("holds", chips(session.holds()))
                .put("waiting", session.waits().size())
                .put("waits", chips(session.waits()));
    }

    /** Tasks, those in trouble first. Text to search for is looked up as a name, too. */
    JsonObject tasks(ViewQuery query) {
        int offset = query.number("offset", 0, 0, SeenTasks.MAX_TASKS);
        int limit = query.number("limit", 100, 1, 500);
        String text = query.text("q", "");
        boolean isPending = !text.isBlank() && !seen.tasks().search(text, now);
        List<TaskReport> tasks = seen.tasks().matching(text).stream()
                .map(task -> seen.report(task, now))
                .sorted(Comparator.comparing((TaskReport report) -> !report.state().isTrouble)
                        .thenComparing(report -> report.task().name()))
                .toList();
        return new JsonObject()
                .put("at", now)
                .put("total", tasks.size())
                .put("offset", offset)
                .put("pending", isPending)
                .put(
                        "tasks",
                        tasks.stream().skip(offset).limit(limit).map(this::task).toList());
    }

    private JsonObject task(TaskReport report) {
        SeenTask task = report.task();
        task.shown(now);
        List<JsonObject> runs = new ArrayList<>();
        if (report.running() != null) {
            runs.add(new JsonObject()
                    .put("outcome", "running")
                    .put("from", report.lastStart())
                    .put("who", report.running().label())
                    .put("token", Long.toString(report.running().token())));
        }
        task.runs().forEach(run -> runs.add(run(run)));
        return new JsonObject()
                .put("name", task.name())
                .put("state", word(report.state()))
                .put("trouble", report.state().isTrouble)
                .put("everyMillis", report.usual())
                .put("lastStart", report.lastStart())
                .put("runs", runs.stream().limit(RecordRun.KEPT).toList())
                .put("readAt", task.readAt())
                .put("problem", task.problem());
    }

    /** What its client recorded. Of a record of a newer version, perhaps only the token is known. */
    private static JsonObject run(RecordedRun run) {
        return new JsonObject()
                .put("outcome", run.outcome() == RecordedRun.Outcome.SUCCEEDED ? "ok" : word(run.outcome()))
                .put("from", run.started())
                .put("to", run.ended())
                .put("who", run.started().isPresent() ? run.label() : null)
                .put("token", Long.toString(run.token()))
                .put("error", run.failure().isEmpty() ? null : run.failure());
    }

    private static List<String> chips(List<String> names) {
        return names.stream().limit(MAX_CHIPS).toList();
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
