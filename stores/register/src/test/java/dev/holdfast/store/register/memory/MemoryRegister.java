package dev.holdfast.store.register.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.History;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.IndexChange.State;
import dev.holdfast.store.register.IndexEntry;
import dev.holdfast.store.register.IndexPage;
import dev.holdfast.store.register.OpenedSession;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterPage;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.ServerTime;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.WriteResult;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** A server of registers in the memory of a test: what each adapter would ask of a real one. Thread-safe. */
public final class MemoryRegister {

    /** The size of the largest state. */
    static final int MAX_STATE_BYTES = 100_000;

    private final RegisterTraits.Clock kind;
    private final LongSupplier clock;
    private final int maxChanges;
    private final TreeMap<ResourceName, Entry> records = new TreeMap<>();
    private final Map<SessionId, Session> sessions = new LinkedHashMap<>();
    private final Map<ClaimRef, Arrival> arrivals = new LinkedHashMap<>();
    private final List<MemoryAdapter> adapters = new ArrayList<>();
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong refusals = new AtomicLong();
    private long revision;
    private long nextTurn;
    private int turns;
    private final Map<ResourceName, History> histories = new LinkedHashMap<>();
    private String turnsCursor = "";
    private long floor;

    /** How many arrivals were added to records. */
    private int takenIn;

    /** Whether entries may be missing. */
    private boolean isIndexSpoiled;

    private record Entry(byte[] state, RecordVersion version, long writtenAt) {}

    private static final class Session {
        final OpenedSession opened;
        final String label;
        final boolean isLease;
        final MemoryAdapter owner;
        final Map<ClaimRef, Boolean> index = new LinkedHashMap<>();
        final Map<ClaimRef, Annotation> annotations = new LinkedHashMap<>();
        long epoch;
        long endsAt;

        Session(OpenedSession opened, String label, boolean isLease, MemoryAdapter owner) {
            this.opened = opened;
            this.label = label;
            this.isLease = isLease;
            this.owner = owner;
        }
    }

    /** @param clock in microseconds */
    public MemoryRegister(RegisterTraits.Clock kind, LongSupplier clock) {
        this(kind, clock, 4_000);
    }

    /**
     * One that takes smaller writes than others do.
     *
     * @param clock in microseconds
     * @param maxChanges as in the traits
     */
    public MemoryRegister(RegisterTraits.Clock kind, LongSupplier clock, int maxChanges) {
        this.kind = kind;
        this.clock = clock;
        this.maxChanges = maxChanges;
    }

    /** Another client's connection. */
    public MemoryAdapter connect() {
        MemoryAdapter adapter = new MemoryAdapter(this);
        synchronized (this) {
            adapters.add(adapter);
        }
        return adapter;
    }

    /** Replaces a record by data that are not a record. */
    public synchronized void damage(ResourceName name) {
        records.computeIfPresent(
                name, (resource, entry) -> new Entry(new byte[] {1, 2, 3}, entry.version, entry.writtenAt));
    }

    /** Deletes a record as somebody does by hand. */
    public synchronized void delete(ResourceName name) {
        records.remove(name);
    }

    /** Removes an index entry that its session still counts on, as a server does that has given it another owner. */
    public synchronized void removeEntry(ClaimRef claim) {
        Session session = sessions.get(claim.session());
        if (session != null && session.index.remove(claim) != null) {
            isIndexSpoiled = true;
        }
    }

    RegisterTraits traits() {
        return new RegisterTraits(
                "a register in memory, by " + kind,
                "register",
                kind,
                Duration.ofMillis(1),
                dev.holdfast.spi.Command.MAX_DURATION,
                Duration.of(1, ChronoUnit.MICROS),
                true,
                true,
                false,
                MAX_STATE_BYTES,
                maxChanges);
    }

    ServerTime time() {
        return kind == RegisterTraits.Clock.WALL ? ServerTime.exactly(clock.getAsLong()) : ServerTime.NONE;
    }

    /** Ends what has expired and notifies its watchers. */
    public void expire() {
        List<SessionId> ended = new ArrayList<>();
        List<MemoryAdapter> told;
        synchronized (this) {
            long now = clock.getAsLong();
            sessions.values().stream()
                    .filter(session -> session.endsAt <= now)
                    .forEach(session -> ended.add(session.opened.id()));
            told = end(ended);
        }
        tell(ended, told);
    }

    private List<MemoryAdapter> end(List<SessionId> ended) {
        List<MemoryAdapter> told = List.copyOf(adapters);
        ended.forEach(sessions::remove);
        arrivals.keySet().removeIf(claim -> ended.contains(claim.session()));
        return told;
    }

    private static void tell(List<SessionId> ended, List<MemoryAdapter> told) {
        ended.forEach(id -> told.forEach(adapter -> adapter.ended(id)));
    }

    synchronized OpenedSession open(Duration ttl, String label, boolean isLease, MemoryAdapter owner) {
        long micros = Math.max(1_000, Math.addExact(ttl.toNanos(), 999) / 1_000);
        SessionId id = new SessionId("r" + ++revision);
        Session session =
                new Session(new OpenedSession(id, Duration.of(micros, ChronoUnit.MICROS)), label, isLease, owner);
        session.endsAt = clock.getAsLong() + micros;
        sessions.put(id, session);
        return session.opened;
    }

    /** Ends a session. */
    public void close(SessionId id) {
        List<MemoryAdapter> told;
        synchronized (this) {
            told = sessions.containsKey(id) ? end(List.of(id)) : List.of();
        }
        tell(List.of(id), told);
    }

    Optional<Long> keepAlive(SessionId id, long epoch) {
        return renew(id, epoch, session -> clock.getAsLong() + session.ttl().toNanos() / 1_000);
    }

    /**
     * Renews a session as {@link MemoryAdapter#keepAlive} does, but until another time.
     *
     * @param end when it ends, by the server's clock, unless it does so later already
     */
    public synchronized Optional<Long> renew(SessionId id, long epoch, ToLongFunction<OpenedSession> end) {
        Session session = sessions.get(id);
        if (session == null) {
            return Optional.empty();
        }
        if (session.epoch == epoch) {
            session.endsAt = Math.max(session.endsAt, end.applyAsLong(session.opened));
        }
        return Optional.of(session.epoch);
    }

    /** Ends a session a quarter of its ttl from now, if it lasts for longer. */
    public synchronized void shorten(SessionId id) {
        Session session = sessions.get(id);
        if (session != null) {
            session.endsAt = Math.min(
                    session.endsAt, clock.getAsLong() + session.opened.ttl().toNanos() / 4_000);
        }
    }

    /** The time by its clock, in microseconds. */
    public long micros() {
        return clock.getAsLong();
    }

    synchronized Optional<Long> raise(SessionId id, long epoch) {
        Session session = sessions.get(id);
        if (session == null) {
            return Optional.empty();
        }
        session.epoch = Math.max(session.epoch, epoch);
        return Optional.of(session.epoch);
    }

    synchronized Map<SessionId, SessionRecord> living(Set<SessionId> ids) {
        Map<SessionId, SessionRecord> living = new HashMap<>();
        for (SessionId id : ids) {
            Session session = sessions.get(id);
            if (session != null) {
                living.put(id, new SessionRecord(session.epoch, session.label, session.opened.ttl()));
            }
        }
        return living;
    }

    synchronized Map<SessionId, Duration> remaining(Set<SessionId> ids) {
        Map<SessionId, Duration> left = new HashMap<>();
        for (SessionId id : ids) {
            Session session = sessions.get(id);
            if (session != null) {
                left.put(id, Duration.of(session.endsAt - clock.getAsLong(), ChronoUnit.MICROS));
            }
        }
        return left;
    }

    synchronized Optional<IndexPage> index(SessionId id, Optional<String> cursor, int limit) {
        Session session = sessions.get(id);
        if (session == null) {
            return Optional.empty();
        }
        List<IndexEntry> rest = session.index.entrySet().stream()
                .map(entry -> new IndexEntry(entry.getKey(), entry.getValue()))
                .filter(entry -> cursor.isEmpty() || key(entry).compareTo(cursor.get()) > 0)
                .sorted(Comparator.comparing(MemoryRegister::key))
                .toList();
        List<IndexEntry> page = rest.subList(0, Math.min(limit, rest.size()));
        return Optional.of(new IndexPage(
                page, page.size() == rest.size() ? Optional.empty() : Optional.of(key(page.get(page.size() - 1)))));
    }

    private static String key(IndexEntry entry) {
        return entry.claim().resource().value() + "/" + entry.claim().claim();
    }

    /** How many writes it has refused. */
    public long refusals() {
        return refusals.get();
    }

    /** How many requests it has had. */
    public long requests() {
        return requests.get();
    }

    void requested() {
        requests.incrementAndGet();
    }

    synchronized RegisterPage list(String prefix, Optional<String> cursor, int limit) {
        List<RegisterPage.Entry> page = new ArrayList<>();
        Optional<ResourceName> after = cursor.map(ResourceName::new);
        for (ResourceName name : records.keySet()) {
            boolean isNext = after.isEmpty() || name.compareTo(after.get()) > 0;
            if (isNext && name.value().startsWith(prefix)) {
                if (page.size() == limit) {
                    return new RegisterPage(
                            page,
                            Optional.of(page.get(page.size() - 1).resource().value()));
                }
                page.add(new RegisterPage.Entry(name, read(name), age(name)));
            }
        }
        return new RegisterPage(page, Optional.empty());
    }

    private Duration age(ResourceName name) {
        Entry entry = records.get(name);
        return entry == null || kind == RegisterTraits.Clock.REVISIONS
                ? Duration.ZERO
                : Duration.of(clock.getAsLong() - entry.writtenAt, ChronoUnit.MICROS);
    }

    synchronized Optional<String> takeTurn(Duration pause) {
        long now = clock.getAsLong();
        if (now < nextTurn) {
            return Optional.empty();
        }
        nextTurn = now + pause.toNanos() / 1_000;
        turns++;
        return Optional.of(turnsCursor);
    }

    /** How often a client had the turn to clean up. */
    public synchronized int turns() {
        return turns;
    }

    private record Annotation(long seq, String text) {}

    synchronized boolean annotate(ClaimRef claim, long seq, String text) {
        Session session = sessions.get(claim.session());
        if (session == null) {
            return false;
        }
        session.annotations.merge(claim, new Annotation(seq, text), (old, now) -> old.seq() < now.seq() ? now : old);
        return true;
    }

    synchronized void dropAnnotation(ClaimRef claim) {
        Session session = sessions.get(claim.session());
        if (session != null) {
            session.annotations.remove(claim);
        }
    }

    synchronized Map<ClaimRef, String> annotations(Set<ClaimRef> claims) {
        Map<ClaimRef, String> texts = new LinkedHashMap<>();
        sessions.values()
                .forEach(session -> session.annotations.forEach((claim, annotation) -> {
                    if (claims.contains(claim)) {
                        texts.put(claim, annotation.text());
                    }
                }));
        return texts;
    }

    synchronized History history(ResourceName name) {
        return histories.getOrDefault(name, new History(Optional.empty(), 0));
    }

    synchronized boolean replaceHistory(ResourceName name, History expected, byte[] content) {
        boolean isSame = history(name).version() == expected.version();
        if (isSame) {
            histories.put(name, new History(Optional.of(content), expected.version() + 1));
        }
        return isSame;
    }

    synchronized void endTurn(String cursor) {
        turnsCursor = cursor;
    }

    /** Reads a record. */
    public synchronized RegisterRecord read(ResourceName name) {
        Entry entry = records.get(name);
        return entry == null ? missing() : new RegisterRecord(Optional.of(entry.state.clone()), entry.version, floor());
    }

    synchronized RegisterRecord missing() {
        return new RegisterRecord(Optional.empty(), new RecordVersion(0, 0), floor());
    }

    private long floor() {
        return kind == RegisterTraits.Clock.WALL ? floor : 0;
    }

    /** How many arrivals writes have added to records. */
    public synchronized int takenIn() {
        return takenIn;
    }

    Optional<Long> announce(Arrival arrival, Map<SessionId, byte[]> mail) {
        Map<SessionId, MemoryAdapter> owners = new HashMap<>();
        Optional<Long> epoch;
        synchronized (this) {
            epoch = announce(arrival);
            if (epoch.isPresent() && epoch.get() <= arrival.epoch()) {
                mail.keySet().stream().filter(sessions::containsKey).forEach(id -> owners.put(id, session(id).owner));
            }
        }
        owners.forEach(
                (id, owner) -> owner.delivered(id, mail.get(id), missing().version()));
        return epoch;
    }

    private Optional<Long> announce(Arrival arrival) {
        Session session = sessions.get(arrival.claim().session());
        if (session == null) {
            return Optional.empty();
        }
        if (session.epoch <= arrival.epoch()) {
            arrivals.put(arrival.claim(), arrival);
        }
        return Optional.of(session.epoch);
    }

    synchronized Arrivals arrivals(ResourceName name) {
        List<Arrival> waiting = arrivals.values().stream()
                .filter(arrival -> arrival.claim().resource().equals(name))
                .toList();
        return new Arrivals(waiting, read(name));
    }

    synchronized void retract(Arrival arrival) {
        arrivals.remove(arrival.claim());
    }

    /** Writes if all conditions are met. */
    public WriteResult write(ConditionalWrite write) {
        List<Runnable> deliveries = new ArrayList<>();
        WriteResult result = write(write, deliveries);
        deliveries.forEach(Runnable::run);
        return result;
    }

    private synchronized WriteResult write(ConditionalWrite write, List<Runnable> deliveries) {
        int changes =
                write.mail().size() + write.index().size() + write.arrivals().size();
        if (changes > maxChanges) {
            throw new IllegalArgumentException(changes + " changes in one write are more than " + maxChanges);
        }
        Set<SessionId> concerned = new HashSet<>(write.writers().keySet());
        concerned.addAll(write.mail().keySet());
        write.index().forEach(change -> concerned.add(change.claim().session()));
        Set<SessionId> gone = new HashSet<>(concerned);
        gone.removeAll(sessions.keySet());
        Map<SessionId, Long> raised = new HashMap<>();
        write.writers().forEach((id, epoch) -> {
            if (!gone.contains(id) && session(id).epoch > epoch) {
                raised.put(id, session(id).epoch);
            }
        });
        RegisterRecord present = read(write.resource());
        boolean isWaiting = write.arrivals().stream().allMatch(arrival -> arrivals.containsKey(arrival.claim()));
        if (!gone.isEmpty() || !raised.isEmpty() || !present.version().equals(write.expected()) || !isWaiting) {
            refusals.incrementAndGet();
            return new WriteResult.Refused(present, gone, raised);
        }
        revision++;
        takenIn += write.arrivals().size();
        write.arrivals().forEach(arrival -> arrivals.remove(arrival.claim()));
        write.index().forEach(this::change);
        RecordVersion version = put(write, present);
        write.mail().forEach((id, mail) -> {
            MemoryAdapter owner = session(id).owner;
            deliveries.add(() -> owner.delivered(id, mail, version));
        });
        return new WriteResult.Written(version);
    }

    private RecordVersion put(ConditionalWrite write, RegisterRecord present) {
        byte @Nullable [] state = write.state().orElse(null);
        if (state == null) {
            records.remove(write.resource());
            floor = Math.max(floor, write.floor());
            return missing().version();
        }
        RecordVersion version = new RecordVersion(
                present.state().isEmpty() ? revision : present.version().incarnation(), revision);
        records.put(write.resource(), new Entry(state.clone(), version, clock.getAsLong()));
        return version;
    }

    private Session session(SessionId id) {
        Session session = sessions.get(id);
        if (session == null || session.isLease) {
            throw new IllegalStateException("There is no session " + id);
        }
        return session;
    }

    private void change(IndexChange change) {
        Map<ClaimRef, Boolean> index = session(change.claim().session()).index;
        Boolean isHeld = index.get(change.claim());
        State before = isHeld == null ? State.NONE : isHeld ? State.HELD : State.WAITING;
        if (before != change.kind().before() && !isIndexSpoiled) {
            throw new IllegalStateException("The index does not allow " + change + ": " + index);
        }
        switch (change.kind().after()) {
            case WAITING -> index.put(change.claim(), false);
            case HELD -> index.put(change.claim(), true);
            case NONE -> index.remove(change.claim());
        }
    }

    synchronized void disconnect(MemoryAdapter adapter) {
        adapters.remove(adapter);
    }
}
