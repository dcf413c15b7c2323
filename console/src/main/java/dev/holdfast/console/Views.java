package dev.holdfast.console;

import dev.holdfast.admin.LockInfo;
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
        forest = BlockingForest.of(seen.locks());
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
                .put(
                        "silentSessions",
                        sessions.stream().filter(SeenSessions.Session::isSilent).count())
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
        return times > 0 ? times + "x usual" : "";
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
        if (times > 0) {
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
                .put("leaseMillis", lease.length());
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
                .put("why", Ticket.text(lock, now));
    }

    private JsonObject waiter(SeenLock lock, LockInfo.Waiter waiter) {
        return new JsonObject()
                .put("label", waiter.label())
                .put("session", waiter.session())
                .put("claim", Long.toString(waiter.claim()))
                .put("weight", waiter.weight())
                .put("since", lock.since(waiter));
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
        Duration least = Duration.ofSeconds(query.number("least", 5, 0, 86_400));
        List<JsonObject> trees = new ArrayList<>();
        int drawn = 0;
        long cut = 0;
        for (BlockingForest.Root root : forest.roots()) {
            if (root.longestWait(now).compareTo(least) >= 0) {
                List<LockInfo.Waiter> waiters = root.lock().info().waiters();
                List<JsonObject> behind = waiters.stream()
                        .limit(Math.max(0, MAX_NODES - drawn))
                        .map(waiter -> blocked(root.lock(), waiter))
                        .toList();
                drawn += 1 + behind.size();
                cut += root.lock().waiting() - behind.size();
                trees.add(blocker(root).put("children", behind));
            }
        }
        return new JsonObject()
                .put("at", now)
                .put(
                        "waiting",
                        seen.locks().stream().mapToLong(SeenLock::waiting).sum())
                .put("hidden", forest.roots().size() - trees.size())
                .put("roots", trees)
                .put("cut", cut == 0 ? null : cut);
    }

    private static JsonObject blocker(BlockingForest.Root root) {
        return new JsonObject()
                .put("label", root.holder().label())
                .put("holds", List.of(root.lock().name()))
                .put("heldSince", root.lock().since(root.holder()))
                .put("behind", root.lock().waiting());
    }

    private static JsonObject blocked(SeenLock lock, LockInfo.Waiter waiter) {
        return new JsonObject()
                .put("label", waiter.label())
                .put("holds", List.of())
                .put("waits", lock.name())
                .put("waitsSince", lock.since(waiter))
                .put("behind", 0)
                .put("children", List.of());
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

    private static List<String> chips(List<String> names) {
        return names.stream().limit(MAX_CHIPS).toList();
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
