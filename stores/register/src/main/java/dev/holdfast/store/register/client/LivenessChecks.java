package dev.holdfast.store.register.client;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.Step;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides which sessions a round has to find alive before its answers are true. Whoever this client watches needs no
 * check, and neither does whoever the write of the step compares with: it fails if one of them has ended.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class LivenessChecks {

    /** The liveness of this many holders and waiters is checked in each round, and they are watched. */
    static final int MOST_DECISIVE = 16;

    /** Of the other holders, this many are checked by each round that changes nothing, in turn. */
    private static final int MOST_IN_TURN = 64;

    private final Context context;
    private final Lane lane;
    private final List<Call> calls;
    private final FactQueries queries;

    LivenessChecks(Context context, Lane lane, List<Call> calls, FactQueries queries) {
        this.context = context;
        this.lane = lane;
        this.calls = calls;
        this.queries = queries;
    }

    /**
     * Returns those who decide about the outcome of a step that is to be written, and whose end nothing would show. If
     * another client has carried the commands out, its write has compared with the same sessions.
     */
    Set<SessionId> beforeWrite(Step step) {
        Set<SessionId> ids = new HashSet<>();
        for (SessionId id : step.decisive(MOST_DECISIVE)) {
            if (!isWatched(id) && !step.changesIndexOf(id) && !queries.isSettled(id)) {
                ids.add(id);
            }
        }
        return ids;
    }

    /** Returns those who decide about the answers of a step that changes nothing. */
    Set<SessionId> beforeAnswer(Step step) {
        Set<SessionId> ids = new HashSet<>(step.decisive(MOST_DECISIVE));
        ids.addAll(step.writers().keySet());
        calls.forEach(call -> call.session().ifPresent(ids::add));
        ids.addAll(step.holdersInTurn(MOST_IN_TURN, lane.checks()));
        ids.removeIf(queries::isSettled);
        return ids;
    }

    private boolean isWatched(SessionId id) {
        return context.sessions().isOwn(id) || context.watches().isWatched(id);
    }
}
