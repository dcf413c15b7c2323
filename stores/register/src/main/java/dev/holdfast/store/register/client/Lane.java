package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.machine.StateView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The lane of one resource: this client writes its record in one {@link Round} at a time. Calls that arrive during a
 * round share the next one. So a client competes only with other clients, whatever the number of its threads.
 *
 * <p>Thread-safe. Fields without a lock belong to the present round; each round happens before the next.
 */
final class Lane {

    /** The most calls in one round. */
    private static final int MOST_CALLS = 512;

    /** A client whose claim waits behind others leaves each of them up to this time to act first. */
    private static final long STEP_BACK_NANOS = 20_000_000;

    private static final long MOST_STEP_BACK_NANOS = 1_000_000_000;

    /** In a contended lane, the sessions of others stay watched for this time after the last claim of this client. */
    private static final long WATCH_RETENTION_NANOS = 1_000_000_000;

    /** Once this many are watched, those that no longer matter are dropped. */
    private static final int MOST_RETAINED_WATCHES = 32;

    /** The memory of an idle lane, without a name in ASCII and the state of its record. */
    private static final int OBJECT_BYTES = 416;

    private final Context context;
    private final ResourceName resource;
    private final Contention contention;

    @GuardedBy("this")
    private List<LaneCall> waiting = new ArrayList<>();

    @GuardedBy("this")
    private boolean isBusy;

    /** The waiting claims of this client, each with the number that wait before it. Replaced as a whole. */
    private volatile List<Place> places = List.of();

    /** The sessions of this client that have a claim in the record. */
    private volatile Set<SessionId> users = Set.of();

    /** The sessions of others that are watched for this resource. */
    private volatile Set<SessionId> watched = Set.of();

    /** The sessions that decide who is next, including those of this client. */
    private volatile Set<SessionId> decisive = Set.of();

    /** Whether a check is scheduled that ends watches without a use. */
    private final AtomicBoolean isUnwatchScheduled = new AtomicBoolean();

    /** The newest record that this client knows; null if it must read it. */
    @Nullable
    RegisterRecord known;

    /** The newest write of another client that no round has used yet. */
    private final AtomicReference<@Nullable News> news = new AtomicReference<>();

    /** The continuation of the present round while it waits until others have added its claims to the record. */
    private final AtomicReference<@Nullable Runnable> paused = new AtomicReference<>();

    /** How many rounds have checked the liveness of some of the holders. */
    private int checks;

    private record Place(ClaimRef claim, int before) {}

    /**
     * A write of another client.
     *
     * @param state the state that it wrote, if that is known
     */
    private record News(RecordVersion version, Optional<byte[]> state) {

        boolean isAfter(@Nullable RegisterRecord record) {
            return record == null || record.version().isBefore(version);
        }

        @Nullable
        RegisterRecord record() {
            return state.map(left -> new RegisterRecord(state, version, 0)).orElse(null);
        }
    }

    Lane(Context context, ResourceName resource) {
        this.context = context;
        this.resource = resource;
        this.contention = new Contention(context);
    }

    ResourceName resource() {
        return resource;
    }

    Contention contention() {
        return contention;
    }

    /** About how much memory it takes while it is idle. */
    int bytes() {
        RegisterRecord record = known;
        int state =
                record == null ? 0 : record.state().map(bytes -> bytes.length).orElse(0);
        return OBJECT_BYTES + resource.value().length() + state;
    }

    synchronized void add(LaneCall call) {
        waiting.add(call);
    }

    /** Whether it has no calls, and nothing can happen in it that concerns this client but the end of its session. */
    synchronized boolean isQuiet() {
        return !isBusy && waiting.isEmpty() && (isUnused() || (places.isEmpty() && watched.isEmpty()));
    }

    /** Whether this client has no claim in the record. */
    boolean isUnused() {
        return users.isEmpty();
    }

    /** Runs rounds while calls wait, unless another thread already does. */
    void run() {
        run(Duration.ZERO, List.of());
    }

    /** The same on the thread that has submitted a call, which may block for the round with this call. */
    void run(LaneCall submitted) {
        run(submitted.mayBlockFor(), List.of(submitted));
    }

    private void run(Duration mayBlockFor, List<LaneCall> submitted) {
        while (true) {
            List<LaneCall> batch = take();
            if (batch.isEmpty()) {
                context.lanes().rest(resource);
                return;
            }
            boolean mayBlock = !mayBlockFor.isZero() && batch.containsAll(submitted);
            CompletableFuture<Void> round = new Round(context, this, batch).run(mayBlock ? mayBlockFor : Duration.ZERO);
            if (!round.isDone()) {
                var unused = round.whenComplete((done, failure) -> {
                    release();
                    run();
                });
                return;
            }
            release();
        }
    }

    private synchronized List<LaneCall> take() {
        if (isBusy || waiting.isEmpty()) {
            return List.of();
        }
        isBusy = true;
        // A call changes at most two entries of the index, not counting the claims that it grants.
        int most = Math.max(1, Math.min(MOST_CALLS, context.adapter().traits().maxChanges() / 4));
        if (waiting.size() <= most) {
            List<LaneCall> all = waiting;
            waiting = new ArrayList<>(4);
            return all;
        }
        List<LaneCall> first = new ArrayList<>(waiting.subList(0, most));
        waiting = new ArrayList<>(waiting.subList(most, waiting.size()));
        return first;
    }

    private synchronized void release() {
        isBusy = false;
    }

    /**
     * Notes that another client has written the record.
     *
     * @param state the state that it wrote, if that is known
     */
    void written(RecordVersion version, Optional<byte[]> state) {
        News latest = new News(version, state);
        var unused = news.accumulateAndGet(
                latest,
                (known, late) -> known != null && late != null && late.version.isBefore(known.version) ? known : late);
    }

    /** Whether another client has made a write that no round has used yet. */
    boolean hasNews() {
        return news.get() != null;
    }

    /**
     * Applies what is known of the writes of others, unless this client knows the record as it was after them.
     *
     * @return whether the known record was outdated
     */
    boolean takeNews() {
        News latest = news.getAndSet(null);
        if (latest == null || !latest.isAfter(known)) {
            return false;
        }
        known = latest.record();
        return true;
    }

    /**
     * Continues the present round after a time, or as soon as mail about the resource or an urgent call comes.
     */
    void pauseUntilMail(long nanos, Runnable next) {
        paused.set(next);
        if (nanos == 0 || hasNews() || isUrged()) {
            resume(next);
        } else {
            context.environment().schedule(nanos, () -> resume(next));
        }
    }

    private void resume(Runnable next) {
        if (paused.compareAndSet(next, null)) {
            next.run();
        }
    }

    /** Whether an urgent call waits for the end of the present round. */
    synchronized boolean isUrged() {
        return waiting.stream().anyMatch(LaneCall::isUrgent);
    }

    /** Continues a round that waits for mail. */
    void endPause() {
        Runnable next = paused.getAndSet(null);
        if (next != null) {
            next.run();
        }
    }

    /** Notes that a round has checked the liveness of some of the holders. */
    void checked() {
        checks++;
    }

    int checks() {
        return checks;
    }

    /** Notes who holds and waits, and watches the sessions whose end matters to this client. */
    void learn(StateView view, Set<SessionId> decisiveNow) {
        contention.learnWriters(view);
        Sessions sessions = context.sessions();
        List<Place> own = new ArrayList<>(0);
        List<ClaimRef> queue = view.waiting();
        for (int i = 0; i < queue.size(); i++) {
            if (sessions.isOwn(queue.get(i).session())) {
                own.add(new Place(queue.get(i), i));
            }
        }
        Set<SessionId> sessionsNow = new HashSet<>();
        own.forEach(place -> sessionsNow.add(place.claim().session()));
        for (ClaimRef claim : view.holders()) {
            if (sessions.isOwn(claim.session())) {
                sessionsNow.add(claim.session());
            }
        }
        places = own;
        users = Set.copyOf(sessionsNow);
        decisive = decisiveNow;
        if (!sessionsNow.isEmpty()) {
            Set<SessionId> others = new HashSet<>();
            if (contention.isLikely() && watched.size() < MOST_RETAINED_WATCHES) {
                watched.stream().filter(this::isOther).forEach(others::add);
            }
            for (SessionId id : decisiveNow) {
                if (isOther(id)) {
                    others.add(id);
                }
            }
            watchSessions(others);
        } else if (!watched.isEmpty()) {
            unwatchLater();
        }
    }

    /** Whether a session is of another client, and is not known to have ended. */
    private boolean isOther(SessionId id) {
        return !context.sessions().isOwn(id) && !context.sessions().isGone(id);
    }

    private void watchSessions(Set<SessionId> others) {
        Set<SessionId> before = watched;
        if (!others.equals(before)) {
            watched = others;
            context.watches().replace(before, others);
        }
    }

    /** Ends the watches: after a while in a contended lane, where another claim of this client is likely to follow. */
    private void unwatchLater() {
        if (!contention.isLikely()) {
            watchSessions(Set.of());
        } else if (!isUnwatchScheduled.getAndSet(true)) {
            context.environment().schedule(WATCH_RETENTION_NANOS, () -> {
                isUnwatchScheduled.set(false);
                unwatchIfIdle();
            });
        }
    }

    private void unwatchIfIdle() {
        synchronized (this) {
            if (isBusy || !waiting.isEmpty() || !isUnused()) {
                return;
            }
            isBusy = true;
        }
        watchSessions(Set.of());
        release();
        run();
    }

    /**
     * Reacts to the end of a session. If that may free the resource for a claim of this client, it acts at once where
     * the claim is the first that waits, and after a moment where clients before it may act.
     *
     * @param wasOwn whether it was a session of this client, which then grants the claims of others if no one else does
     */
    void gone(SessionId id, boolean wasOwn) {
        List<Place> own = places;
        boolean isConcerned = wasOwn ? users.contains(id) : decisive.contains(id) && !own.isEmpty();
        if (!isConcerned) {
            return;
        }
        int before = own.isEmpty() ? 0 : own.get(0).before();
        long delay = Math.min(MOST_STEP_BACK_NANOS, before * context.upTo(STEP_BACK_NANOS));
        if (delay == 0) {
            maintain();
        } else {
            context.environment().schedule(delay, this::maintain);
        }
    }

    /** Makes a step without a command: it drops what has ended, and grants what fits. */
    void maintain() {
        var unused = context.submit(resource, LaneCall.maintain());
    }
}
