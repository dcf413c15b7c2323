package dev.holdfast.store.register.client;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.machine.StateView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The lane of one resource: this client writes its record in one {@link Round} at a time, and what comes meanwhile goes
 * together in the next. So a client competes with other clients alone, whatever its number of threads.
 *
 * <p>Thread-safe. What has no lock belongs to the round that is under way; each happens before the next.
 */
final class Lane {

    /** The most calls in one round. */
    private static final int MOST_CALLS = 512;

    /** By so much at most a client that stands further back leaves it to those before it to go on. */
    private static final long STEP_BACK_NANOS = 20_000_000;

    private static final long MOST_STEP_BACK_NANOS = 1_000_000_000;

    private static final int CONTENDED_ROUNDS = 8;

    /** From this many parties on, all of them know that the lane is crowded. */
    private static final int SURE_CROWD = 8;

    /** This many sessions at most are notified of an announced claim: half of them hold, half of them wait. */
    private static final int MOST_WRITERS = 4;

    /** Further lost claims in a row no longer lengthen the time without competition. */
    private static final int MOST_LOST_IN_ROW = 4;

    /** After a lost claim, claims don't compete for this many rounds; for twice as many after each further one. */
    private static final int OUTPACED_ROUNDS = 16;

    /** After a holder has kept the resource for long, claims compete for this many rounds. */
    private static final int SLOW_ROUNDS = 16;

    /** For so long the sessions of others stay watched after the last claim of this client, where many come and go. */
    private static final long LINGER_NANOS = 1_000_000_000;

    /** And not more than about so many, in the end. */
    private static final int MOST_LINGERING = 32;

    private final Context context;
    private final ResourceName resource;

    @GuardedBy("this")
    private List<Call> waiting = new ArrayList<>();

    @GuardedBy("this")
    private boolean isBusy;

    /** The claims of this client that wait, with how many wait before each. Replaced as a whole. */
    private volatile List<Place> places = List.of();

    /** The sessions of this client that have a claim in the record. */
    private volatile Set<SessionId> users = Set.of();

    /** The sessions of others that are watched for this resource. */
    private volatile Set<SessionId> watched = Set.of();

    /** The sessions that matter to who is next, of this client too. */
    private volatile Set<SessionId> decisive = Set.of();

    /** Whether it is looked soon whether anybody is watched for nothing. */
    private final AtomicBoolean isLingering = new AtomicBoolean();

    /** The record as it was known last; null if it has to be read. */
    @Nullable
    RegisterRecord known;

    /** The newest write of another client that is known of, and was not made use of yet. */
    private final AtomicReference<@Nullable News> news = new AtomicReference<>();

    /** The sessions of other clients that write next, with the times when they were seen last, the latest last. */
    private final Map<SessionId, Long> writers = new LinkedHashMap<>();

    /** How many hold or wait. */
    private int parties;

    /** The claims that other clients have announced and notified this one of. */
    private final ArrivalNotices notices = new ArrivalNotices();

    /** What the round goes on with that is under way, if it pauses until others have taken its claims in. */
    private final AtomicReference<@Nullable Runnable> paused = new AtomicReference<>();

    /** How long a write takes that does not wait for others. */
    private long writeNanos;

    /** After how long a holder has taken in what this client announced. */
    private long takenInNanos;

    /** For so many rounds more, claims compete although others announce theirs. */
    private int slowRounds;

    /** For so many rounds of this client more, others are taken to write at the same time. */
    private int contendedRounds;

    /** How many rounds have checked the liveness of some of the holders. */
    private int checks;

    /** For so many rounds more, claims are announced instead of competing with the writes of others. */
    private int outpacedRounds;

    /** How many claims in a row have lost to the writes of others. */
    private int lostInRow;

    private record Place(ClaimRef claim, int before) {}

    /**
     * A write of another client.
     *
     * @param state what it left, if that is known
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
    }

    ResourceName resource() {
        return resource;
    }

    ArrivalNotices notices() {
        return notices;
    }

    synchronized void add(Call call) {
        waiting.add(call);
    }

    synchronized boolean isIdle() {
        return !isBusy && waiting.isEmpty() && users.isEmpty();
    }

    /** Makes rounds while there is something to do, unless somebody does. */
    void run() {
        while (true) {
            List<Call> batch = take();
            if (batch.isEmpty()) {
                context.lanes().rest(this);
                return;
            }
            CompletableFuture<Void> round = new Round(context, this, batch).run();
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

    private synchronized List<Call> take() {
        if (isBusy || waiting.isEmpty()) {
            return List.of();
        }
        isBusy = true;
        // A call changes two entries of the index at most, beside what it lets in.
        int most = Math.max(1, Math.min(MOST_CALLS, context.adapter().traits().maxChanges() / 4));
        if (waiting.size() <= most) {
            List<Call> all = waiting;
            waiting = new ArrayList<>(4);
            return all;
        }
        List<Call> first = new ArrayList<>(waiting.subList(0, most));
        waiting = new ArrayList<>(waiting.subList(most, waiting.size()));
        return first;
    }

    private synchronized void release() {
        isBusy = false;
    }

    /**
     * Notes that another client has written the record.
     *
     * @param state what it left, if that is known
     */
    void written(RecordVersion version, Optional<byte[]> state) {
        News latest = new News(version, state);
        var unused = news.accumulateAndGet(
                latest,
                (known, late) -> known != null && late != null && late.version.isBefore(known.version) ? known : late);
    }

    /** Whether a write of another client is known of that was not made use of yet. */
    boolean hasNews() {
        return news.get() != null;
    }

    /**
     * Takes over what is known of writes of others, unless the record is known as it was after them. Whether there was
     * something, so that the record is no longer as it was known.
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
     * Has the round that is under way go on after so long, or as soon as there is mail about the resource or something
     * that must not wait.
     */
    void pauseUntilMail(long nanos, Runnable next) {
        paused.set(next);
        if (nanos == 0 || hasNews() || isUrged()) {
            goOn(next);
        } else {
            context.environment().schedule(nanos, () -> goOn(next));
        }
    }

    private void goOn(Runnable next) {
        if (paused.compareAndSet(next, null)) {
            next.run();
        }
    }

    /** Whether something waits for the round under way that can't be left to others. */
    synchronized boolean isUrged() {
        return waiting.stream().anyMatch(Call::isUrgent);
    }

    /** Has a round go on that pauses until there is mail. */
    void endPause() {
        Runnable next = paused.getAndSet(null);
        if (next != null) {
            next.run();
        }
    }

    /** Notes how long a write took: of many that wait for each other the quickest tells what one takes. */
    void wrote(long nanos) {
        long slower = writeNanos + writeNanos / 16;
        writeNanos = writeNanos == 0 ? nanos : Math.min(nanos, slower);
    }

    long writeNanos() {
        return writeNanos;
    }

    /**
     * Notes after how long it was seen that a holder had taken in what was announced. Where many pass the resource
     * around it was so before that, and the quickest tells how long it takes. Elsewhere the slowest does: it counts how
     * far away the others are.
     */
    void takenIn(long nanos) {
        long change = takenInNanos() / 16;
        takenInNanos =
                isCrowded() ? Math.min(nanos, takenInNanos() + change) : Math.max(nanos, takenInNanos() - change);
    }

    /**
     * Notes that what was announced was not taken in, since nobody wrote the record.
     *
     * @param isLong whether that was for longer than a holder far away needs
     */
    void keptWaiting(long nanos, boolean isLong) {
        takenIn(nanos);
        competed(false);
        slowRounds = isLong ? SLOW_ROUNDS : slowRounds;
    }

    long takenInNanos() {
        return takenInNanos == 0 ? 2 * writeNanos : takenInNanos;
    }

    /** Notes whether a round met with writes or arrivals of others: those that follow are likely to. */
    void met(boolean others) {
        contendedRounds = others ? CONTENDED_ROUNDS : Math.max(0, contendedRounds - 1);
        outpacedRounds = Math.max(0, outpacedRounds - 1);
        slowRounds = Math.max(0, slowRounds - 1);
    }

    /**
     * Notes whether a claim has lost to the writes of others. A client that is too far away to win is soon known by
     * that, and competes again after twice as many rounds each time.
     */
    void competed(boolean hasLost) {
        lostInRow = hasLost ? Math.min(lostInRow + 1, MOST_LOST_IN_ROW) : 0;
        outpacedRounds = hasLost ? OUTPACED_ROUNDS << (lostInRow - 1) : 0;
        slowRounds = hasLost ? 0 : slowRounds;
    }

    /**
     * Whether other clients are likely to write while a round does, and first. Who announces claims has lost to others,
     * or sees others do so: the holder's next write takes in all of them, and a claim that competed would make it fail.
     */
    boolean isContended() {
        return isCrowded() || outpacedRounds > 0 || (slowRounds == 0 && notices.areRecent(context.now()));
    }

    /** Whether these are so many that each reads what was announced before it writes. */
    boolean isCrowded() {
        return contendedRounds > 0;
    }

    /** Notes that a round has checked the liveness of holders whose turn it was. */
    void checked() {
        checks++;
    }

    int checks() {
        return checks;
    }

    /**
     * Notes which clients write next: those of the holders and of the first waiters. Those that held or waited a moment
     * ago are likely to come again.
     */
    void learnWriters(StateView view) {
        long now = context.now();
        learnWriters(view.waiting(), now);
        learnWriters(view.held(), now);
        writers.values().removeIf(seen -> now - seen > LINGER_NANOS);
        while (writers.size() > MOST_WRITERS) {
            writers.remove(writers.keySet().iterator().next());
        }
        parties = view.parties();
    }

    private void learnWriters(List<ClaimRef> claims, long now) {
        int room = MOST_WRITERS / 2;
        for (int i = 0; i < claims.size() && room > 0; i++) {
            SessionId id = claims.get(i).session();
            if (!context.sessions().isOwn(id)) {
                writers.remove(id);
                writers.put(id, now);
                room--;
            }
        }
    }

    /** The sessions to notify of an announced claim: of the clients that write next, unless these read it anyway. */
    List<SessionId> toNotify() {
        return isCrowded() && parties >= SURE_CROWD && outpacedRounds == 0 ? List.of() : List.copyOf(writers.keySet());
    }

    /** Notes who holds and waits now, and has those watched whose end matters here. */
    void learn(StateView view, Set<SessionId> decisiveNow) {
        learnWriters(view);
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
        for (ClaimRef claim : view.held()) {
            if (sessions.isOwn(claim.session())) {
                sessionsNow.add(claim.session());
            }
        }
        places = own;
        users = sessionsNow;
        decisive = decisiveNow;
        if (!sessionsNow.isEmpty()) {
            Set<SessionId> others = new HashSet<>();
            if (isContended() && watched.size() < MOST_LINGERING) {
                watched.stream().filter(this::isOther).forEach(others::add);
            }
            for (SessionId id : decisiveNow) {
                if (isOther(id)) {
                    others.add(id);
                }
            }
            watch(others);
        } else if (!watched.isEmpty()) {
            linger();
        }
    }

    /** Whether a session is of another client, and is not known to have ended. */
    private boolean isOther(SessionId id) {
        return !context.sessions().isOwn(id) && !context.sessions().isGone(id);
    }

    private void watch(Set<SessionId> others) {
        Set<SessionId> before = watched;
        if (!others.equals(before)) {
            watched = others;
            context.watches().replace(before, others);
        }
    }

    /** Watches nobody any more, soon if it is likely that a claim of this client follows. */
    private void linger() {
        if (!isContended()) {
            watch(Set.of());
        } else if (!isLingering.getAndSet(true)) {
            context.environment().schedule(LINGER_NANOS, () -> {
                isLingering.set(false);
                unwatchIfIdle();
            });
        }
    }

    private void unwatchIfIdle() {
        synchronized (this) {
            if (!isIdle()) {
                return;
            }
            isBusy = true;
        }
        watch(Set.of());
        release();
        run();
    }

    /**
     * A session has ended. If that may let a claim of this client in, it goes on at once where that is the first that
     * waits; if others stand before it, their clients have a moment to do so.
     *
     * @param wasOwn whether it was a session of this client, which lets others in if nobody else does
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
            look();
        } else {
            context.environment().schedule(delay, this::look);
        }
    }

    /** Makes a step that does nothing but what each does. */
    void look() {
        var unused = context.submit(resource, Call.look());
    }
}
