package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Annotate;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Command.RecordRun;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The store's state, with the few primitive changes. {@link ReferenceExecutor} says what each command means.
 *
 * <p>Not thread-safe. Not final, so that tests can break one change at a time and check that this is detected.
 */
class State {

    /** The shortest session ttl, in microseconds. */
    static final long MIN_TTL = 1_000;

    /**
     * How many idle resources keep a record. Beyond that the longest idle one is dropped, and only the floor covers its
     * tokens.
     */
    static final int MAX_IDLE = 65_536;

    /** What is kept of an idle resource. */
    private record IdleRecord(long lastToken, @Nullable MemoryLatch latch) {}

    final Map<SessionId, MemorySession> sessions = new HashMap<>();
    private final Map<ResourceName, MemoryResource> resources = new HashMap<>();
    private final LinkedHashMap<ResourceName, IdleRecord> idle = new LinkedHashMap<>();
    private final LinkedHashMap<ResourceName, TreeMap<Long, String>> runs = new LinkedHashMap<>();
    final TreeSet<Expiring> deadlines = new TreeSet<>(Expiring.BY_END);

    /** At least the newest token of every resource without a record. */
    private long floor;

    /** The number of partitions. */
    private final int partitions;

    private long numbers;

    /** The time of the current step, in microseconds since 1970. */
    private long now;

    /** The signals of the current step. */
    private List<Signal> signals = new ArrayList<>(0);

    State() {
        this(1);
    }

    State(int partitions) {
        if (partitions < 1) {
            throw new IllegalArgumentException("A store must have at least one partition, not " + partitions);
        }
        this.partitions = partitions;
    }

    int partitions() {
        return partitions;
    }

    /** The partition of a name. */
    int partitionOf(ResourceName name) {
        return partitionOf(name, partitions);
    }

    static int partitionOf(ResourceName name, int partitions) {
        return Math.floorMod(name.hashCode(), partitions);
    }

    /** Starts a step at this time: ends what has expired, so that the command doesn't see it. */
    void begin(long unixMicros) {
        now = unixMicros;
        expire();
    }

    /** Returns and clears the signals of the current step. */
    List<Signal> takeSignals() {
        if (signals.isEmpty()) {
            return List.of();
        }
        List<Signal> pending = signals;
        signals = new ArrayList<>(0);
        return pending;
    }

    void signal(Signal one) {
        signals.add(one);
    }

    long now() {
        return now;
    }

    // Sessions

    MemorySession open(OpenSession command) {
        if (command.partition() >= partitions) {
            throw new IllegalArgumentException(
                    "There is no partition " + command.partition() + ": the store has " + partitions);
        }
        long number = ++numbers;
        // Differs from the ids of every earlier store in this JVM, provided the clock never goes back.
        SessionId id = new SessionId("m" + Long.toString(now, 36) + "-" + Long.toString(number, 36));
        MemorySession session = new MemorySession(
                number, id, command.label(), Math.max(MIN_TTL, Micros.of(command.ttl())), command.partition());
        sessions.put(id, session);
        renew(session);
        return session;
    }

    void renew(MemorySession session) {
        endAt(session, now + session.ttl);
    }

    @Nullable
    MemorySession liveSession(SessionId id) {
        MemorySession session = sessions.get(id);
        return session != null && session.live ? session : null;
    }

    /** The live session, if it is in the partition of this resource. */
    @Nullable
    MemorySession liveSession(SessionId id, ResourceName resource) {
        MemorySession session = liveSession(id);
        return session != null && session.partition == partitionOf(resource) ? session : null;
    }

    /** Includes the detached grants of an ended session. */
    Set<MemoryClaim> claimsOf(SessionId id) {
        MemorySession session = sessions.get(id);
        return session == null ? Set.of() : session.claims;
    }

    void end(MemorySession session) {
        Set<MemoryResource> touched = new LinkedHashSet<>();
        end(session, touched);
        touched.forEach(this::settle);
    }

    // Drops everything that has expired before granting anything, so that no claim is granted only to expire in the
    // same step.
    void expire() {
        if (deadlines.isEmpty() || deadlines.first().endsAt > now) {
            return;
        }
        Set<MemoryResource> touched = new LinkedHashSet<>();
        while (!deadlines.isEmpty() && deadlines.first().endsAt <= now) {
            if (deadlines.first() instanceof MemorySession session) {
                end(session, touched);
            } else if (deadlines.first() instanceof MemoryClaim claim) {
                drop(claim);
                touched.add(claim.resource);
            }
        }
        touched.forEach(this::settle);
    }

    void end(MemorySession session, Set<MemoryResource> touched) {
        session.live = false;
        deadlines.remove(session);
        for (MemoryClaim claim : List.copyOf(session.claims)) {
            if (!claim.isDetached()) {
                drop(claim);
                touched.add(claim.resource);
            }
        }
        forgetIfUnused(session);
        signal(new Signal.SessionEnded(session.id));
    }

    private void forgetIfUnused(MemorySession session) {
        if (!session.live && session.claims.isEmpty()) {
            sessions.remove(session.id);
        }
    }

    // Resources

    @Nullable
    MemoryResource inUse(ResourceName name) {
        return resources.get(name);
    }

    Iterable<MemoryResource> allInUse() {
        return resources.values();
    }

    /** The resource, restored from its idle record if needed. The same step calls {@link #settle} afterwards. */
    MemoryResource use(ResourceName name, ResourceSpec spec) {
        MemoryResource known = resources.get(name);
        if (known != null) {
            return known;
        }
        IdleRecord kept = idle.remove(name);
        MemoryResource restored = kept == null
                ? new MemoryResource(name, spec, floor, null)
                : new MemoryResource(name, spec, kept.lastToken, kept.latch);
        resources.put(name, restored);
        return restored;
    }

    /**
     * Grants queued claims from the head while they fit, signals that, and sets the resource aside if it is then idle.
     */
    void settle(MemoryResource resource) {
        List<MemoryClaim> admitted = List.of();
        while (!resource.queue.isEmpty()) {
            MemoryClaim head = resource.queue.values().iterator().next();
            if (!resource.fits(head.weight)) {
                break;
            }
            resource.queue.remove(head.ref);
            if (grant(head)) {
                admitted = admitted.isEmpty() ? new ArrayList<>() : admitted;
                admitted.add(head);
            } else {
                head.session.claims.remove(head);
                signal(new Signal.Changed(head.ref));
            }
        }
        for (MemoryClaim claim : admitted) {
            signal(
                    claim.hasFixedLease()
                            ? new Signal.Changed(claim.ref)
                            : new Signal.Granted(claim.ref, granted(claim)));
        }
        if (!resource.isInUse()) {
            setAside(resource);
        }
    }

    void setAside(MemoryResource resource) {
        resources.remove(resource.name);
        idle.put(resource.name, new IdleRecord(resource.lastToken, resource.latch));
        if (idle.size() > MAX_IDLE) {
            var oldest = idle.entrySet().iterator();
            floor = Math.max(floor, oldest.next().getValue().lastToken);
            oldest.remove();
        }
    }

    // Runs

    /** Adds a run of a task, or replaces the one with its token. */
    void addRun(RecordRun command) {
        TreeMap<Long, String> kept = runs.remove(command.resource());
        kept = kept == null ? new TreeMap<>(Comparator.reverseOrder()) : kept;
        kept.put(command.token(), command.run());
        if (kept.size() > RecordRun.KEPT) {
            kept.pollLastEntry();
        }
        runs.put(command.resource(), kept);
        if (runs.size() > MAX_IDLE) {
            var longestIdle = runs.keySet().iterator();
            longestIdle.next();
            longestIdle.remove();
        }
    }

    /** The newest runs of a task, by falling tokens. */
    List<Reply.Runs.Run> runsOf(ResourceName name) {
        List<Reply.Runs.Run> found = new ArrayList<>();
        runs.getOrDefault(name, new TreeMap<>()).forEach((token, text) -> found.add(new Reply.Runs.Run(token, text)));
        return found;
    }

    // Claims

    @Nullable
    MemoryClaim claim(ClaimRef ref) {
        MemoryResource resource = resources.get(ref.resource());
        return resource == null ? null : resource.claim(ref);
    }

    @Nullable
    MemoryClaim grant(ClaimRef ref) {
        MemoryResource resource = resources.get(ref.resource());
        return resource == null ? null : resource.grants.get(ref);
    }

    MemoryClaim enqueue(MemoryResource resource, MemorySession session, Acquire request) {
        MemoryClaim claim = new MemoryClaim(++numbers, request, resource, session);
        claim.queuedAt = now;
        session.claims.add(claim);
        resource.queue.put(claim.ref, claim);
        return claim;
    }

    /** Makes a claim and grants it; returns null, with nothing changed, if the tokens are exhausted. */
    @Nullable
    MemoryClaim admit(MemoryResource resource, MemorySession session, Acquire request) {
        MemoryClaim claim = new MemoryClaim(++numbers, request, resource, session);
        if (!grant(claim)) {
            return null;
        }
        session.claims.add(claim);
        return claim;
    }

    boolean grant(MemoryClaim claim) {
        TokenBlock block = reserve(claim.resource, 0, claim.tokensWanted);
        if (block == null) {
            return false;
        }
        claim.tokens = block;
        claim.resource.grants.put(claim.ref, claim);
        claim.resource.heldWeight += claim.weight;
        return true;
    }

    /** Reserves the next tokens of a resource, above {@code atLeast}; null if its tokens are exhausted. */
    @Nullable
    TokenBlock reserve(MemoryResource resource, long atLeast, int want) {
        long last = Math.max(resource.lastToken, atLeast);
        if (isSpent(last)) {
            return null;
        }
        TokenBlock block = Tokens.next(last, now, want);
        resource.lastToken = block.last();
        return block;
    }

    boolean isSpent(long lastToken) {
        return lastToken >= TokenBlock.MAX_TOKEN || Tokens.floor(now) > TokenBlock.MAX_TOKEN;
    }

    /** Records that the claimant gets its grant; the first time, a fixed lease starts. */
    void pickUp(MemoryClaim claim) {
        if (!claim.pickedUp) {
            claim.pickedUp = true;
            if (claim.hasFixedLease()) {
                endAt(claim, now + Micros.of(claim.lease.length()));
            }
        }
    }

    /** Removes a claim in any state. The same step calls {@link #settle} afterwards. */
    void drop(MemoryClaim claim) {
        MemoryResource resource = claim.resource;
        if (resource.grants.remove(claim.ref) != null) {
            resource.heldWeight -= claim.weight;
        } else {
            resource.queue.remove(claim.ref);
        }
        deadlines.remove(claim);
        claim.session.claims.remove(claim);
        forgetIfUnused(claim.session);
    }

    /** Replaces the annotation of a grant, unless a later one did. */
    void annotate(MemoryClaim grant, Annotate command) {
        if (command.seq() > grant.annotated) {
            grant.annotated = command.seq();
            grant.annotation = command.text();
        }
    }

    void endAt(Expiring expiring, long unixMicros) {
        deadlines.remove(expiring);
        expiring.endsAt = unixMicros;
        deadlines.add(expiring);
    }

    // Answers

    Reply.Granted granted(MemoryClaim claim) {
        TokenBlock tokens = claim.tokens;
        if (tokens == null) {
            throw new IllegalStateException("The claim is waiting: " + claim.ref);
        }
        return new Reply.Granted(tokens, fixedLeaseLeft(claim), !claim.resource.queue.isEmpty());
    }

    private Optional<Duration> fixedLeaseLeft(MemoryClaim claim) {
        if (!claim.hasFixedLease()) {
            return Optional.empty();
        }
        return Optional.of(claim.pickedUp ? Micros.duration(claim.left(now)) : claim.lease.length());
    }

    Reply.Queued queued(MemoryClaim waiter) {
        long recheck = Math.max(1, waiter.session.ttl / 3);
        for (MemoryClaim grant : waiter.resource.grants.values()) {
            recheck = Math.min(recheck, grant.microsLeft(now));
        }
        // Of the waiters ahead only the head matters: while it waits, the end of another one grants nothing.
        MemoryClaim head = waiter.resource.queue.values().iterator().next();
        if (head != waiter) {
            recheck = Math.min(recheck, head.microsLeft(now));
        }
        return new Reply.Queued(Micros.duration(recheck));
    }
}
