package dev.holdfast.store.register.machine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.ConditionalWrite;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.IndexChange.Kind;
import dev.holdfast.store.register.RecordVersion;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.store.register.SessionRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One step on the record of a resource: some commands in order, on the state of the record. It is a function of the
 * record, the commands and the {@linkplain Facts facts}. It has no effect until the client makes the {@linkplain #write
 * write} that it returns. A step that lacked facts is void.
 *
 * <p>On a server that numbers its writes, the tokens of an incarnation of a record begin at the number of its first
 * write times 4,096, and a step reserves at most that many. So all of them are below those of the next incarnation,
 * whose first write comes later, and nothing must be kept of an unused name.
 *
 * <p>Not thread-safe.
 */
public final class Step {

    /** How many bits of a token number the tokens within one write of the server. */
    private static final int REVISION_BITS = 12;

    private static final int PATHS_BYTES = 512;

    private static final int MOST_TOKENS = 1 << REVISION_BITS;

    private final RegisterRecord record;
    private final Facts facts;
    private final byte @Nullable [] before;
    private final Map<ClaimRef, Boolean> claimsBefore;
    private final Set<SessionId> leasesBefore = new HashSet<>(0);
    private final ResourceState state;
    private final Moves moves;
    private final CommandExecutor executor;
    private final RegisterTraits server;
    private final List<Arrival> arrivals = new ArrayList<>(0);

    /** How many parties there were before it. */
    private final int partiesBefore;

    /** The outcome of the commands; null until it is needed, and again after the next command. */
    private @Nullable Outcome outcome;

    /**
     * The outcome of the commands of a step.
     *
     * @param state the encoded state; null for no record
     * @param index the changes of the index
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Outcome(byte @Nullable [] state, List<IndexChange> index) {}

    /** How many commands were carried out. */
    private int commands;

    /**
     * Begins a step, and drops the claims that have ended.
     *
     * @param server what the server can do
     * @throws dev.holdfast.spi.StoreException if the record is not one of Holdfast's
     */
    public Step(ResourceName name, RegisterRecord record, Facts facts, RegisterTraits server) {
        facts.begin();
        this.record = record;
        this.facts = facts;
        this.before = record.state().orElse(null);
        this.state = before == null ? new ResourceState(name) : StateCodec.decode(name, before);
        if (before == null) {
            state.lastToken = record.floor();
        }
        this.claimsBefore = claims(state);
        state.forEach(claim -> {
            if (claim.leaseId != null) {
                leasesBefore.add(claim.leaseId);
            }
        });
        this.partiesBefore = state.parties();
        // Each granted waiter needs a change of the index and perhaps mail, and the commands need some room too.
        this.server = server;
        this.moves = new Moves(
                state,
                facts,
                before == null ? 0 : base(server, record.version()),
                MOST_TOKENS,
                server.maxChanges() / 4);
        this.executor = new CommandExecutor(moves, server.maxStateBytes());
        moves.expire();
    }

    /** The claims, each with whether it holds. */
    private static Map<ClaimRef, Boolean> claims(ResourceState state) {
        if (state.parties() == 0) {
            return Map.of();
        }
        if (state.parties() == 1) {
            return Map.of(state.first().ref, state.first().isHeld());
        }
        Map<ClaimRef, Boolean> claims = new HashMap<>();
        state.forEach(claim -> claims.put(claim.ref, claim.isHeld()));
        return claims;
    }

    /** What tokens are relative to in a record of this version. */
    public static long base(RegisterTraits server, RecordVersion version) {
        return server.clock() == RegisterTraits.Clock.REVISIONS ? version.incarnation() << REVISION_BITS : 0;
    }

    /**
     * What the tokens of the answers are relative to.
     *
     * @param written the record as this step left it
     */
    public long base(RegisterRecord written) {
        return base(server, (before == null ? written : record).version());
    }

    /** Executes a command on the resource. */
    public Answer execute(Command.OnResource command) {
        commands++;
        outcome = null;
        return command.accept(executor);
    }

    /** Whether a claim holds or waits. */
    public boolean contains(ClaimRef claim) {
        return state.claim(claim) != null;
    }

    /** Whether a claim or a later one of its session holds or waits. */
    public boolean containsSince(ClaimRef claim) {
        return contains(state.grants, claim) || contains(state.queue, claim);
    }

    private static boolean contains(Map<ClaimRef, ClaimEntry> claims, ClaimRef oldest) {
        return claims.keySet().stream()
                .anyMatch(claim -> claim.session().equals(oldest.session()) && claim.claim() >= oldest.claim());
    }

    /** Whether the record has a claim, including one that has ended. */
    public boolean containedBefore(ClaimRef claim) {
        return claimsBefore.containsKey(claim);
    }

    /** How many held or waited before it. */
    public int partiesBefore() {
        return partiesBefore;
    }

    /**
     * Adds claims that other clients have announced, as far as one write has room. A claim that would be refused is
     * left to its own client. An arrival that its client has given up without retracting it is removed.
     *
     * @param calls how many commands are to follow
     */
    public void add(Collection<Arrival> announced, int calls) {
        outcome = null;
        int room = server.maxStateBytes() / 2;
        for (Arrival arrival : announced) {
            room -= bytesOf(arrival);
            // Each needs a change of the index, the removal of the arrival, and perhaps mail.
            if (arrivals.size() + calls >= server.maxChanges() / 4 || room < 0) {
                return;
            }
            ArrivalCodec.decode(arrival).ifPresent(request -> {
                SessionId session = arrival.claim().session();
                if (!facts.isGone(session)) {
                    facts.session(session, request.session());
                    if (isGivenUp(arrival)) {
                        arrivals.add(arrival);
                    } else if (executor.add(request.command())) {
                        commands++;
                        arrivals.add(arrival);
                    }
                }
            });
        }
    }

    /** Whether its client has raised the epoch since: no step can add the claim, and each that tries fails. */
    private boolean isGivenUp(Arrival arrival) {
        SessionRecord known = facts.session(arrival.claim().session());
        return known != null && known.epoch() > arrival.epoch();
    }

    /** An estimate of what an arrival adds to a write, apart from the state: a path may need three octets for one. */
    private static int bytesOf(Arrival arrival) {
        return PATHS_BYTES + 8 * arrival.claim().resource().utf8().length + 2 * arrival.request().length;
    }

    /** Removes an arrival of this client, whose command the step executes. */
    public void remove(Arrival announced) {
        arrivals.add(announced);
    }

    /** Reads the present state of a claim for its claimant. */
    public Answer poll(ClaimRef claim) {
        commands++;
        outcome = null;
        return executor.poll(claim);
    }

    /** Whether it changes the record or removes arrivals. */
    public boolean isChange() {
        return !arrivals.isEmpty() || !Arrays.equals(before, outcome().state());
    }

    private Outcome outcome() {
        Outcome known = outcome;
        if (known == null) {
            known = new Outcome(after(), indexChanges());
            outcome = known;
        }
        return known;
    }

    private byte @Nullable [] after() {
        boolean isFresh = before == null && !moves.hasReserved && state.latch == null && !state.isInUse();
        return isFresh || (before != null && isForgettable()) ? null : StateCodec.encode(state);
    }

    /** The state that the write leaves; empty for no record. */
    public Optional<byte[]> state() {
        return Optional.ofNullable(outcome().state());
    }

    /** Whether the record can be deleted: the resource is unused, and new tokens will be above all others. */
    private boolean isForgettable() {
        return facts.serverKeepsLeases() && !state.isInUse() && state.latch == null && !isAhead();
    }

    /** Whether there is a record of an unused resource. */
    public boolean isIdle() {
        return before != null && !state.isInUse();
    }

    /** The write that gives the step its effect. */
    public ConditionalWrite write(Map<SessionId, byte[]> mail) {
        return new ConditionalWrite(
                state.name, record.version(), state(), 0, executor.writers, mail, index(), arrivals);
    }

    /**
     * The write that removes the record of an idle resource; its newest token is the floor of the next ones. If its
     * tokens are ahead of the server's write numbers, the record is only written again, which shows how far.
     */
    public ConditionalWrite removal() {
        boolean isAhead = facts.serverKeepsLeases() && isAhead();
        Optional<byte[]> left = isAhead ? Optional.of(StateCodec.encode(state)) : Optional.empty();
        return new ConditionalWrite(
                state.name, record.version(), left, state.lastToken, Map.of(), Map.of(), List.of(), List.of());
    }

    private boolean isAhead() {
        return moves.base() + state.lastToken > (record.version().change() + 2) << REVISION_BITS;
    }

    /** The changes of the index. */
    public List<IndexChange> index() {
        return outcome().index();
    }

    private List<IndexChange> indexChanges() {
        List<IndexChange> changes = new ArrayList<>(2);
        state.forEach(claim -> {
            Boolean wasHeld = claimsBefore.get(claim.ref);
            if (wasHeld == null) {
                changes.add(new IndexChange(claim.ref, claim.isHeld() ? Kind.GRANTED : Kind.QUEUED));
            } else if (wasHeld != claim.isHeld()) {
                changes.add(new IndexChange(claim.ref, claim.isHeld() ? Kind.PROMOTED : Kind.REQUEUED));
            }
        });
        // The index of a session ends with it.
        claimsBefore.forEach((claim, wasHeld) -> {
            if (state.claim(claim) == null && !facts.isGone(claim.session())) {
                changes.add(new IndexChange(claim, wasHeld ? Kind.RELEASED : Kind.WITHDRAWN));
            }
        });
        return changes;
    }

    /** Whether it changes what the index of a session says. */
    public boolean changesIndexOf(SessionId session) {
        for (IndexChange change : index()) {
            if (change.claim().session().equals(session)) {
                return true;
            }
        }
        return false;
    }

    /** The notices to claimants, without grants that have ended in the same step. */
    public List<Notice> notices() {
        if (moves.notices.isEmpty()) {
            return List.of();
        }
        return moves.notices.stream()
                .filter(notice -> notice.kind() != Notice.Kind.GRANTED || state.grants.containsKey(notice.claim()))
                .toList();
    }

    /** The sessions whose commands were executed, with the lowest epoch of their commands. */
    public Map<SessionId, Long> writers() {
        return Map.copyOf(executor.writers);
    }

    /** The leases of the server that no claim has any more. */
    public Set<SessionId> endedLeases() {
        Set<SessionId> opened = facts.openedLeases();
        if (leasesBefore.isEmpty() && opened.isEmpty()) {
            return Set.of();
        }
        Set<SessionId> ended = new HashSet<>(leasesBefore);
        ended.addAll(opened);
        state.forEach(claim -> {
            if (claim.leaseId != null) {
                ended.remove(claim.leaseId);
            }
        });
        return ended;
    }

    /**
     * The sessions and leases of the first holders and of the first waiters.
     *
     * @param most the most sessions and leases of each kind
     */
    public Set<SessionId> parties(int most) {
        Set<SessionId> holders = holders(most);
        if (state.queue.isEmpty()) {
            return holders;
        }
        Set<SessionId> ids = new LinkedHashSet<>(holders);
        ids.addAll(ResourceState.sessions(state.queue.values(), most));
        return ids;
    }

    private Set<SessionId> holders(int most) {
        return ResourceState.sessions(state.grants.values(), most);
    }

    /**
     * Some of the holders' sessions and leases, each in its turn.
     *
     * @param most the most that are returned
     * @param turn a number that the caller increases with each call
     */
    public Set<SessionId> holdersInTurn(int most, int turn) {
        List<SessionId> all = List.copyOf(holders(Integer.MAX_VALUE));
        int turns = Math.max(1, (all.size() + most - 1) / most);
        int from = Math.floorMod(turn, turns) * most;
        return Set.copyOf(all.subList(from, Math.min(from + most, all.size())));
    }

    /**
     * The parties whose liveness decides the answers. A claim that is queued while the whole capacity is held does not
     * depend on the other waiters.
     *
     * @param most as for {@link #parties}
     */
    public Set<SessionId> decisive(int most) {
        boolean isOnlyQueued = commands > 0 && executor.enqueued == commands;
        return isOnlyQueued && state.isHeldWhole() ? holders(most) : parties(most);
    }

    /** Whether the next step must continue, because the write had no room for all changes. */
    public boolean isUnfinished() {
        return moves.isUnfinished();
    }

    /** The holders and waiters after the step. */
    public StateView view() {
        return new StateView(state, moves.base());
    }
}
