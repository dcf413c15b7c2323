package dev.holdfast.store.register.client;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.Arrival;
import dev.holdfast.store.register.RegisterRecord;
import dev.holdfast.store.register.SessionRecord;
import dev.holdfast.store.register.machine.ArrivalCodec;
import dev.holdfast.store.register.machine.Facts;
import dev.holdfast.store.register.machine.Step;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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

    Announcements(Context context, Lane lane, List<Call> calls) {
        this.context = context;
        this.lane = lane;
        this.calls = calls;
    }

    boolean areMade() {
        return !made.isEmpty();
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
        return !waiting.stream().allMatch(this::isOwn);
    }

    /** Announces the claims that a step would have queued; the stage ends when each is there or can't be. */
    CompletionStage<Void> make(Step step, Facts facts) {
        Set<ClaimRef> isNew = new HashSet<>();
        step.index().forEach(change -> isNew.add(change.claim()));
        List<CompletableFuture<?>> trips = new ArrayList<>();
        for (Call call : calls) {
            call.queuing()
                    .filter(command -> isNew.contains(command.claim()))
                    .ifPresent(command -> trips.add(announce(command, facts)));
        }
        return CompletableFuture.allOf(trips.toArray(CompletableFuture<?>[]::new));
    }

    private CompletableFuture<Void> announce(Acquire command, Facts facts) {
        SessionId id = command.claim().session();
        SessionRecord session = context.sessions().session(id);
        if (session == null) {
            return CompletableFuture.completedFuture(null);
        }
        Arrival arrival = ArrivalCodec.encode(command, session);
        made.add(arrival);
        return context.adapter()
                .announce(arrival)
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
        return context.adapter().arrivals(lane.resource()).thenApply(arrivals -> {
            looks = isSameFirst(arrivals.waiting()) ? looks + 1 : 1;
            waiting = arrivals.waiting();
            return arrivals.record();
        });
    }

    private boolean isSameFirst(List<Arrival> now) {
        return !now.isEmpty()
                && !waiting.isEmpty()
                && now.get(0).claim().equals(waiting.get(0).claim());
    }

    /**
     * Takes what waits into a step whose commands are those of the round. If none of its own waits any more, the rest
     * is left to those whose claims they are: many others find themselves in the record at the same time.
     */
    void takeInto(Step step) {
        if (!takesAll && !isWaiting()) {
            return;
        }
        List<Arrival> others = new ArrayList<>();
        for (Arrival arrival : waiting) {
            if (isOwn(arrival)) {
                step.remove(arrival);
            } else {
                others.add(arrival);
            }
        }
        step.takeIn(others, calls.size());
    }

    private boolean isOwn(Arrival arrival) {
        return made.stream().anyMatch(own -> own.claim().equals(arrival.claim()));
    }

    private boolean isWaiting() {
        return waiting.stream().anyMatch(this::isOwn);
    }

    /** Whether another client, that of the first arrival, is about to take in what waits. */
    boolean leaveItToOthers() {
        return isWaiting() && !isOwn(waiting.get(0)) && looks < PATIENCE;
    }

    /** Removes what may still wait, where the round fails. */
    void retract() {
        made.forEach(arrival -> {
            var unused = context.adapter().retract(arrival);
        });
    }
}
