package dev.holdfast.store.memory;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.OpenSession;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.spi.support.Tokens;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What the store knows, with the few moves that change it. What a command means is told in {@link CommandExecutor}.
 *
 * <p>Not thread-safe. Not final, so that tests can break one move at a time and see it found out.
 */
class State {

    /** No session is shorter, in microseconds. */
    static final long MIN_TTL = 1_000;

    /**
     * How many resources that nobody uses keep a record of their own. Of the one that rested longest, only the floor
     * remembers.
     */
    static final int MAX_RESTING = 65_536;

    /** What is left of a resource that nobody uses. */
    private record Rest(long lastToken, @Nullable Latch latch) {}

    final Map<SessionId, Session> sessions = new HashMap<>();
    private final Map<ResourceName, Resource> resources = new HashMap<>();
    private final LinkedHashMap<ResourceName, Rest> resting = new LinkedHashMap<>();
    final TreeSet<Expiring> deadlines = new TreeSet<>(Expiring.BY_END);

    /** No token of a resource without a record is above it. */
    private long floor;

    /** In how many partitions the sessions are. */
    private final int partitions;

    private long numbers;

    /** The time of the step that is under way, in microseconds since 1970. */
    private long now;

    /** What the step that is under way tells. */
    private List<Signal> signals = new ArrayList<>(0);

    State() {
        this(1);
    }

    State(int partitions) {
        if (partitions < 1) {
            throw new IllegalArgumentException("A store has at least one partition, not " + partitions);
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

    /** Begins a step: nothing that is over by now is seen by what follows. */
    void begin(long unixMicros) {
        now = unixMicros;
        expire();
    }

    /** What was to be told since the last call. */
    List<Signal> takeSignals() {
        if (signals.isEmpty()) {
            return List.of();
        }
        List<Signal> taken = signals;
        signals = new ArrayList<>(0);
        return taken;
    }

    void tell(Signal signal) {
        signals.add(signal);
    }

    long now() {
        return now;
    }

    // Sessions

    Session open(OpenSession command) {
        if (command.partition() >= partitions) {
            throw new IllegalArgumentException(
                    "There is no partition " + command.partition() + ": there are " + partitions);
        }
        long number = ++numbers;
        // Unlike any id of a store that this JVM had before, as long as the clock goes on.
        SessionId id = new SessionId("m" + Long.toString(now, 36) + "-" + Long.toString(number, 36));
        Session session =
                new Session(number, id, command.label(), Math.max(MIN_TTL, micros(command.ttl())), command.partition());
        sessions.put(id, session);
        renew(session);
        return session;
    }

    void renew(Session session) {
        endAt(session, now + session.ttl);
    }

    @Nullable
    Session liveSession(SessionId id) {
        Session session = sessions.get(id);
        return session != null && session.live ? session : null;
    }

    /** A session under which a resource may be asked for: one of its partition. */
    @Nullable
    Session liveSession(SessionId id, ResourceName resource) {
        Session session = liveSession(id);
        return session != null && session.partition == partitionOf(resource) ? session : null;
    }

    /** Also of a session that has ended, while detached grants of it last. */
    Set<Claim> claimsOf(SessionId id) {
        Session session = sessions.get(id);
        return session == null ? Set.of() : session.claims;
    }

    void end(Session session) {
        Set<Resource> touched = new LinkedHashSet<>();
        end(session, touched);
        touched.forEach(this::settle);
    }

    // Everything that is over is dropped before anybody is admitted, so that no claim is granted only to expire in the
    // same step.
    void expire() {
        if (deadlines.isEmpty() || deadlines.first().endsAt > now) {
            return;
        }
        Set<Resource> touched = new LinkedHashSet<>();
        while (!deadlines.isEmpty() && deadlines.first().endsAt <= now) {
            if (deadlines.first() instanceof Session session) {
                end(session, touched);
            } else if (deadlines.first() instanceof Claim claim) {
                drop(claim);
                touched.add(claim.resource);
            }
        }
        touched.forEach(this::settle);
    }

    void end(Session session, Set<Resource> touched) {
        session.live = false;
        deadlines.remove(session);
        for (Claim claim : List.copyOf(session.claims)) {
            if (!claim.isDetached()) {
                drop(claim);
                touched.add(claim.resource);
            }
        }
        forgetIfUnused(session);
        tell(new Signal.SessionEnded(session.id));
    }

    private void forgetIfUnused(Session session) {
        if (!session.live && session.claims.isEmpty()) {
            sessions.remove(session.id);
        }
    }

    // Resources

    @Nullable
    Resource inUse(ResourceName name) {
        return resources.get(name);
    }

    Iterable<Resource> allInUse() {
        return resources.values();
    }

    /** The resource, taken out of its rest if nobody uses it; followed by {@link #settle} in the same step. */
    Resource use(ResourceName name, ResourceSpec spec) {
        Resource known = resources.get(name);
        if (known != null) {
            return known;
        }
        Rest rest = resting.remove(name);
        Resource woken = rest == null
                ? new Resource(name, spec, floor, null)
                : new Resource(name, spec, rest.lastToken, rest.latch);
        resources.put(name, woken);
        return woken;
    }

    /** Admits from the head of the queue what fits, tells it, and lets the resource rest if nobody uses it then. */
    void settle(Resource resource) {
        List<Claim> admitted = List.of();
        while (!resource.queue.isEmpty()) {
            Claim head = resource.queue.values().iterator().next();
            if (!resource.fits(head.weight)) {
                break;
            }
            resource.queue.remove(head.ref);
            if (grant(head)) {
                admitted = admitted.isEmpty() ? new ArrayList<>() : admitted;
                admitted.add(head);
            } else {
                head.session.claims.remove(head);
                tell(new Signal.Changed(head.ref));
            }
        }
        for (Claim claim : admitted) {
            tell(claim.hasOwnLease() ? new Signal.Changed(claim.ref) : new Signal.Granted(claim.ref, granted(claim)));
        }
        if (!resource.isInUse()) {
            rest(resource);
        }
    }

    void rest(Resource resource) {
        resources.remove(resource.name);
        resting.put(resource.name, new Rest(resource.lastToken, resource.latch));
        if (resting.size() > MAX_RESTING) {
            var oldest = resting.entrySet().iterator();
            floor = Math.max(floor, oldest.next().getValue().lastToken);
            oldest.remove();
        }
    }

    // Claims

    @Nullable
    Claim claim(ClaimRef ref) {
        Resource resource = resources.get(ref.resource());
        return resource == null ? null : resource.claim(ref);
    }

    @Nullable
    Claim grant(ClaimRef ref) {
        Resource resource = resources.get(ref.resource());
        return resource == null ? null : resource.grants.get(ref);
    }

    Claim enqueue(Resource resource, Session session, Acquire request) {
        Claim claim = new Claim(++numbers, request, resource, session);
        session.claims.add(claim);
        resource.queue.put(claim.ref, claim);
        return claim;
    }

    /** Makes a claim and grants it; empty, and nothing was changed, if the token counter is spent. */
    @Nullable
    Claim admit(Resource resource, Session session, Acquire request) {
        Claim claim = new Claim(++numbers, request, resource, session);
        if (!grant(claim)) {
            return null;
        }
        session.claims.add(claim);
        return claim;
    }

    boolean grant(Claim claim) {
        TokenBlock block = reserve(claim.resource, 0, claim.tokensWanted);
        if (block == null) {
            return false;
        }
        claim.tokens = block;
        claim.resource.grants.put(claim.ref, claim);
        claim.resource.held += claim.weight;
        return true;
    }

    /** Reserves the next tokens of a resource, above {@code atLeast}; null if its counter is spent. */
    @Nullable
    TokenBlock reserve(Resource resource, long atLeast, int want) {
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

    /** The claimant hears of its grant: a lease of its own begins, once. */
    void pickUp(Claim claim) {
        if (!claim.pickedUp) {
            claim.pickedUp = true;
            if (claim.hasOwnLease()) {
                endAt(claim, now + micros(claim.lease.length()));
            }
        }
    }

    /** Takes a claim out, whatever its state; followed by {@link #settle} in the same step. */
    void drop(Claim claim) {
        Resource resource = claim.resource;
        if (resource.grants.remove(claim.ref) != null) {
            resource.held -= claim.weight;
        } else {
            resource.queue.remove(claim.ref);
        }
        deadlines.remove(claim);
        claim.session.claims.remove(claim);
        forgetIfUnused(claim.session);
    }

    void endAt(Expiring what, long unixMicros) {
        deadlines.remove(what);
        what.endsAt = unixMicros;
        deadlines.add(what);
    }

    // Answers

    Reply.Granted granted(Claim claim) {
        TokenBlock tokens = claim.tokens;
        if (tokens == null) {
            throw new IllegalStateException("It waits: " + claim.ref);
        }
        return new Reply.Granted(tokens, ownLeaseLeft(claim), !claim.resource.queue.isEmpty());
    }

    private Optional<Duration> ownLeaseLeft(Claim claim) {
        if (!claim.hasOwnLease()) {
            return Optional.empty();
        }
        return Optional.of(claim.pickedUp ? duration(claim.left(now)) : claim.lease.length());
    }

    Reply.Queued queued(Claim waiter) {
        long recheck = Math.max(1, waiter.session.ttl / 3);
        for (Claim grant : waiter.resource.grants.values()) {
            recheck = Math.min(recheck, grant.leftInAll(now));
        }
        // Of those before it only the head: while that waits, the end of another lets nobody in.
        Claim head = waiter.resource.queue.values().iterator().next();
        if (head != waiter) {
            recheck = Math.min(recheck, head.leftInAll(now));
        }
        return new Reply.Queued(duration(recheck));
    }

    static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Rounded up: what is asked for never ends early. */
    static long micros(Duration duration) {
        return Math.addExact(duration.toNanos(), 999) / 1_000;
    }
}
