package dev.holdfast.store.register.client;

import dev.holdfast.spi.SessionId;
import dev.holdfast.store.register.machine.Step;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Decides which sessions a round must find alive before its answers are true. A watched session needs no check, and
 * neither does one that is a condition of the step's write, which fails if it has ended.
 *
 * <p>Not thread-safe, as the round is not.
 */
final class LivenessChecks {

    /** The liveness of this many holders and waiters is checked in each round, and they are watched. */
    static final int MOST_DECISIVE = 16;

    /** Of the other holders, this many are checked by each round that changes nothing, in turn. */
    private static final int MOST_IN_TURN = 64;

    private final Context context;
    private final List<LaneCall> calls;
    private final FactQueries queries;

    /** How many rounds of the lane have checked the liveness of some of the holders. */
    private final int checks;

    LivenessChecks(Context context, List<LaneCall> calls, FactQueries queries, int checks) {
        this.context = context;
        this.calls = calls;
        this.queries = queries;
        this.checks = checks;
    }

    /**
     * Returns the sessions that decide the outcome of a step before its write, and whose end would not be noticed. If
     * another client has executed the commands, its write had the same sessions as conditions.
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

    /** Returns the sessions that decide the answers of a step that changes nothing. */
    Set<SessionId> beforeAnswer(Step step) {
        Set<SessionId> ids = new HashSet<>(step.decisive(MOST_DECISIVE));
        ids.addAll(step.writers().keySet());
        calls.forEach(call -> call.session().ifPresent(ids::add));
        ids.addAll(step.holdersInTurn(MOST_IN_TURN, checks));
        ids.removeIf(queries::isSettled);
        return ids;
    }

    private boolean isWatched(SessionId id) {
        return context.sessions().isOwn(id) || context.watches().isWatched(id);
    }
}
