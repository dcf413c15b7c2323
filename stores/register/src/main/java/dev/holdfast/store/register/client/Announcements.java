package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.Arrivals;
import dev.holdfast.store.register.IndexChange;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.ArrivalCodec;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.MailCodec;
import dev.holdfast.store.register.machine.Step;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * The claims of a round that were announced beside the record, as clients do that arrive there at the same time and
 * would make each other's writes fail. The client of the first arrival takes all of them in with one write, the others
 * find themselves in the record when they look again. Who has seen the same arrival come first some times takes them in
 * itself, for its client may have died.
 *
 * <p>Where many pass the resource around, a holder that goes on takes in what waits with its own write, and those who
 * announced leave it to the holders for a while.
 *
 * <p>An arrival is removed by the write that carries its claim out, so it is carried out once. Its client makes no
 * other write on the resource meanwhile.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class Announcements {

    /** How often it is left to the client of the first arrival to take the others in. */
    private static final int PATIENCE = 4;

    private final Context context;
    private final Lane lane;
    private final List<Call> calls;
    private final List<Arrival> made = new ArrayList<>(0);

    /** What was waiting when it was read last, own ones included. */
    private List<Arrival> waiting = List.of();

    /** Whether what others have announced is taken in although nothing of its own is among it. */
    private boolean takesAll;

    /** How often the same arrival was the first. */
    private int looks;

    /** Whether claims were announced that may be in the record by now. */
    private boolean wereMade;

    /** Whether what this client was notified of is left to later writes. */
    private boolean leavesNoticed;

    Announcements(Context context, Lane lane, List<Call> calls) {
        this.context = context;
        this.lane = lane;
        this.calls = calls;
    }

    boolean areMade() {
        return !made.isEmpty();
    }

    boolean wereMade() {
        return wereMade;
    }

    /** From here on what others have announced is taken in too: this round writes anyway. */
    void takeAll() {
        takesAll = true;
    }

    /** Whether what waits is to be read with the record. */
    boolean matter() {
        return takesAll || areMade();
    }

    /** Whether others were seen that wait to be taken in. */
    boolean sawOthers() {
        return !waiting.isEmpty() && !waiting.stream().allMatch(this::isOwn);
    }

    /**
     * Announces the claims that a step would have queued; the stage ends when each is there or can't be.
     *
     * @param writers the sessions whose clients are notified, because they write next
     */
    CompletionStage<Void> make(Step step, Facts facts, Collection<SessionId> writers) {
        List<Acquire> claims = newClaims(step);
        return CompletableFuture.allOf(claims.stream()
                .map(command -> announce(command, oldest(claims, command.claim().session()), facts, writers))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Whether a step makes claims that could be announced: those that it finds in the record are to be answered. */
    boolean canBeMade(Step step) {
        return !newClaims(step).isEmpty();
    }

    private List<Acquire> newClaims(Step step) {
        Set<ClaimRef> made = step.index().stream()
                .filter(change -> change.kind() == IndexChange.Kind.QUEUED || change.kind() == IndexChange.Kind.GRANTED)
                .map(IndexChange::claim)
                .collect(Collectors.toSet());
        return calls.stream()
                .flatMap(call -> call.queuing().stream())
                .filter(command -> made.contains(command.claim()))
                .toList();
    }

    private static long oldest(List<Acquire> claims, SessionId session) {
        return claims.stream()
                .map(Acquire::claim)
                .filter(claim -> claim.session().equals(session))
                .mapToLong(ClaimRef::claim)
                .min()
                .orElse(0);
    }

    private CompletableFuture<Void> announce(Acquire command, long oldest, Facts facts, Collection<SessionId> writers) {
        SessionId id = command.claim().session();
        SessionRecord session = context.sessions().session(id);
        if (session == null) {
            return CompletableFuture.completedFuture(null);
        }
        Arrival arrival = ArrivalCodec.encode(command, session);
        made.add(arrival);
        wereMade = true;
        byte[] notice = MailCodec.encode(arrival, oldest);
        return context.adapter()
                .announce(arrival, writers.stream().collect(Collectors.toMap(writer -> writer, writer -> notice)))
                .thenAccept(present -> learn(id, present, facts))
                .toCompletableFuture();
    }

    private void learn(SessionId id, Optional<Long> present, Facts facts) {
        if (present.isPresent()) {
            context.sessions().epoch(id, present.get());
            synchronized (facts) {
                facts.epoch(id, present.get());
            }
        } else {
            synchronized (facts) {
                facts.gone(id);
            }
            context.gone(id);
        }
    }

    /** Reads what waits, and then the record. */
    CompletionStage<RegisterRecord> read() {
        return readArrivals().thenApply(arrivals -> {
            looks = isSameFirst(arrivals.waiting()) ? looks + 1 : 1;
            waiting = arrivals.waiting();
            return arrivals.record();
        });
    }

    /** Drops the notices of claims that no longer wait. */
    private CompletionStage<Arrivals> readArrivals() {
        List<Arrival> noticed = lane.notices().present(context.now());
        return context.adapter().arrivals(lane.resource()).thenApply(arrivals -> {
            lane.notices().drop(notIn(arrivals.waiting(), noticed));
            return arrivals;
        });
    }

    /** Leaves what this client was notified of to its next round, and finds out by then what of it still waits. */
    void leaveNoticed() {
        leavesNoticed = true;
        var unused = readArrivals();
    }

    /** Those of some arrivals that no longer wait. */
    private static List<Arrival> notIn(List<Arrival> waiting, List<Arrival> some) {
        Set<ClaimRef> claims = waiting.stream().map(Arrival::claim).collect(Collectors.toSet());
        return some.stream()
                .filter(arrival -> !claims.contains(arrival.claim()))
                .toList();
    }

    private boolean isSameFirst(List<Arrival> now) {
        return !now.isEmpty()
                && !waiting.isEmpty()
                && now.get(0).claim().equals(waiting.get(0).claim());
    }

    /**
     * Takes what waits into a step whose commands are those of the round: what was read, or otherwise what this client
     * was notified of. If none of its own waits any more, what was read is left to the clients of these claims: many
     * others find themselves in the record at the same time.
     */
    void takeInto(Step step, boolean takesNoticed) {
        if (!matter()) {
            if (takesNoticed && !leavesNoticed) {
                step.takeIn(noticed(step), calls.size());
            }
            return;
        }
        List<Arrival> others = new ArrayList<>();
        if (takesAll || isWaiting()) {
            for (Arrival arrival : waiting) {
                if (isOwn(arrival)) {
                    step.remove(arrival);
                } else {
                    others.add(arrival);
                }
            }
        }
        step.takeIn(others, calls.size());
    }

    /** Whether this client was notified of claims that the record does not show yet. */
    boolean areOthersNoticed(Step step) {
        return !noticed(step).isEmpty();
    }

    /** What this client was notified of and the record does not show yet. */
    private List<Arrival> noticed(Step step) {
        List<Arrival> present = lane.notices().present(context.now());
        if (present.isEmpty()) {
            return present;
        }
        lane.notices()
                .drop(present.stream()
                        .filter(arrival -> step.containsSince(arrival.claim()))
                        .toList());
        return lane.notices().present(context.now());
    }

    private boolean isOwn(Arrival arrival) {
        return made.stream().anyMatch(own -> own.claim().equals(arrival.claim()));
    }

    private boolean isWaiting() {
        return !waiting.isEmpty() && waiting.stream().anyMatch(this::isOwn);
    }

    /** Whether another client, that of the first arrival, is about to take in what waits. */
    boolean leaveItToOthers() {
        return isWaiting() && !isOwn(waiting.get(0)) && looks < PATIENCE;
    }

    /** Removes what still waits, so that it can be announced again to others; the record shows what was taken in. */
    CompletionStage<Void> takeBack() {
        CompletableFuture<?>[] retracted = made.stream()
                .map(arrival -> context.adapter().retract(arrival).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        made.clear();
        waiting = List.of();
        return CompletableFuture.allOf(retracted);
    }

    /** Removes what may still wait, where the round fails. */
    void retract() {
        made.forEach(arrival -> {
            var unused = context.adapter().retract(arrival);
        });
    }
}
