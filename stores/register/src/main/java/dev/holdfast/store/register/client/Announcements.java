package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.ResourceName;
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
 * The claims that a round has announced in addition to the record, because clients that arrive at the same time would
 * make each other's writes fail. The client of the first arrival adds all of them to the record with one write; the
 * others find their claims there at their next read. A client that has seen the same arrival in the first place several
 * times adds them itself, because the client of that arrival may have died.
 *
 * <p>Where many hand the resource over to each other, the next write of a holder adds the arrivals, and the clients
 * that announced them wait for that.
 *
 * <p>The write that executes a claim removes its arrival, so it is executed once. Meanwhile its client makes no other
 * write on the resource.
 *
 * <p>Not thread-safe, like the round.
 */
final class Announcements {

    private final Context context;
    private final ResourceName resource;
    private final Contention contention;
    private final List<LaneCall> calls;
    private final List<Arrival> made = new ArrayList<>(0);

    /** The arrivals at the last read, including own ones. */
    private List<Arrival> waiting = List.of();

    /** Whether the claims of others are added even if no own one waits. */
    private boolean addsAll;

    /** How many reads in a row have shown the same first arrival. */
    private int reads;

    /** Whether claims were announced, which may be in the record by now. */
    private boolean wereMade;

    /** Whether the noticed claims are left to later writes. */
    private boolean leavesNoticed;

    /** What becomes of noticed claims. */
    enum Noticed {
        ADDED,
        LEFT
    }

    Announcements(Context context, ResourceName resource, Contention contention, List<LaneCall> calls) {
        this.context = context;
        this.resource = resource;
        this.contention = contention;
        this.calls = calls;
    }

    boolean areMade() {
        return !made.isEmpty();
    }

    boolean wereMade() {
        return wereMade;
    }

    /** Makes this round add the claims of others too, because it writes anyway. */
    void addAll() {
        addsAll = true;
    }

    /** Whether the arrivals must be read with the record. */
    boolean matter() {
        return addsAll || areMade();
    }

    /** Whether the last read showed arrivals of others. */
    boolean sawOthers() {
        return !waiting.isEmpty() && !waiting.stream().allMatch(this::isOwn);
    }

    /**
     * Announces the claims that a step would have queued, and notifies the clients that write next. The stage completes
     * when each claim is announced or refused.
     */
    CompletionStage<Void> make(Step step, Facts facts) {
        List<Acquire> claims = newClaims(step);
        List<SessionId> writers =
                contention.toNotify().stream().filter(id -> !facts.isGone(id)).toList();
        return CompletableFuture.allOf(claims.stream()
                .map(command -> announce(command, oldest(claims, command.claim().session()), facts, writers))
                .toArray(CompletableFuture<?>[]::new));
    }

    /** Whether a step makes claims that can be announced. It answers those that it finds in the record. */
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

    /** Whether a record has all claims of the round that may wait. */
    boolean areAdded(Step present) {
        return calls.stream()
                .flatMap(call -> call.queuing().stream())
                .allMatch(command -> present.contains(command.claim()));
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

    /** Reads the arrivals, and then the record. */
    CompletionStage<RegisterRecord> read() {
        return readArrivals().thenApply(arrivals -> {
            reads = isSameFirst(arrivals.waiting()) ? reads + 1 : 1;
            waiting = arrivals.waiting();
            return arrivals.record();
        });
    }

    /** Reads them and drops the notices of claims that no longer wait. */
    private CompletionStage<Arrivals> readArrivals() {
        List<Arrival> noticed = contention.notices().present(context.now());
        return context.adapter().arrivals(resource).thenApply(arrivals -> {
            contention.notices().drop(notIn(arrivals.waiting(), noticed));
            return arrivals;
        });
    }

    /** Leaves the noticed claims to the next round, and reads which of them still wait by then. */
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
     * Adds announced claims to a step with the commands of the round: the arrivals that were read, or otherwise the
     * noticed claims. If no own claim waits any more, the arrivals are left to their clients: many others find their
     * claims in the record at the same time.
     *
     * @param noticed whether noticed claims are added
     */
    void addTo(Step step, Noticed noticed) {
        if (!matter()) {
            if (noticed == Noticed.ADDED && !leavesNoticed && context.rules().addsNoticed()) {
                step.add(noticed(step), calls.size());
            }
            return;
        }
        List<Arrival> others = new ArrayList<>();
        if (addsAll || isWaiting()) {
            for (Arrival arrival : waiting) {
                if (isOwn(arrival)) {
                    step.remove(arrival);
                } else {
                    others.add(arrival);
                }
            }
        }
        step.add(others, calls.size());
    }

    /** Whether this client was notified of claims that are not in the record yet. */
    boolean areOthersNoticed(Step step) {
        return !noticed(step).isEmpty();
    }

    /** The noticed claims that are not in the record yet. */
    private List<Arrival> noticed(Step step) {
        List<Arrival> present = contention.notices().present(context.now());
        if (present.isEmpty()) {
            return present;
        }
        contention
                .notices()
                .drop(present.stream()
                        .filter(arrival -> step.containsSince(arrival.claim()))
                        .toList());
        return contention.notices().present(context.now());
    }

    private boolean isOwn(Arrival arrival) {
        return made.stream().anyMatch(own -> own.claim().equals(arrival.claim()));
    }

    private boolean isWaiting() {
        return !waiting.isEmpty() && waiting.stream().anyMatch(this::isOwn);
    }

    /** Whether the client of the first arrival, another one, is about to add all of them. */
    boolean areLeftToOthers() {
        return isWaiting() && !isOwn(waiting.get(0)) && context.rules().leavesArrivalsToFirst(reads);
    }

    /** Removes the arrivals that still wait, so that other clients can be notified. The record shows the others. */
    CompletionStage<Void> takeBack() {
        CompletableFuture<?>[] retracted = made.stream()
                .map(arrival -> context.adapter().retract(arrival).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        made.clear();
        waiting = List.of();
        return CompletableFuture.allOf(retracted);
    }

    /** Removes the arrivals that may still wait, after the round has failed. */
    void retract() {
        made.forEach(arrival -> {
            var unused = context.adapter().retract(arrival);
        });
    }
}
