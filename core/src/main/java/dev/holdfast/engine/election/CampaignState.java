package dev.holdfast.engine.election;

import dev.holdfast.election.Campaign.State;
import dev.holdfast.election.TermEnd;
import org.jspecify.annotations.Nullable;

/*
 * A campaign waits (WAITING), is granted a hold, and leads (LEADING) until the first of: the hold is lost, the term is
 * resigned, the candidate throws, the campaign or the client is closed. Then it steps down (STEPPING_DOWN): onElected
 * returns, onTermEnd is called, and only then a hold that is still good is released, so that a leader that gives up
 * never overlaps with its successor. After that it waits again, at once or after a pause (PAUSED).
 *
 * A campaign that is closed ends at once if it only waits, and otherwise when the step that is under way ends.
 */

/**
 * The state of a campaign. Immutable: each verb is a transition, which changes nothing where it does not apply.
 *
 * @param phase what users see
 * @param term the current term, until the store has answered its release
 * @param end how the current term ended; null while it lasts
 * @param step what is under way
 * @param failures how many times in a row something failed; the pause grows with it
 * @param lastError what failed last
 * @param isClosed whether the campaign was closed: it ends with what is under way
 */
record CampaignState(
        State phase,
        @Nullable EngineLeadership term,
        @Nullable TermEnd end,
        Step step,
        int failures,
        @Nullable Throwable lastError,
        boolean isClosed) {

    /** What is under way and makes the next transition when it ends. */
    enum Step {
        /** Nothing that the end of a term would have to wait for. */
        NONE,
        /** A call of the candidate is queued: {@code onElected}, or {@code onError} before a pause. */
        CALLING,
        /** The candidate is in {@code onElected}. */
        LEADING,
        /** The store was asked to release the term. */
        RELEASING
    }

    static final CampaignState INITIAL = new CampaignState(State.WAITING, null, null, Step.NONE, 0, null, false);

    /** The term that lasts; null if there is none. */
    @Nullable
    EngineLeadership presentTerm() {
        return end == null ? term : null;
    }

    // ---- Waiting

    /** Waits to be elected, after a pause. */
    CampaignState resumed() {
        return isClosed ? this : next(State.WAITING, null, null, Step.NONE, failures);
    }

    CampaignState elected(EngineLeadership elected) {
        return isClosed ? this : next(State.LEADING, elected, null, Step.CALLING, failures);
    }

    /** The wait failed, or its hold was lost before the term began. */
    CampaignState failed(Throwable failure) {
        return isClosed
                ? this
                : next(State.PAUSED, null, null, Step.CALLING, failures + 1).noting(failure);
    }

    /** The candidate was notified of a failed wait. */
    CampaignState reported() {
        return next(orEnded(State.PAUSED), null, null, Step.NONE, failures);
    }

    // ---- Leading

    /** {@code onElected} is about to be called. Does not apply if the term has ended before. */
    CampaignState calling() {
        return end == null ? next(phase, term, null, Step.LEADING, failures) : this;
    }

    /** {@code onElected} has returned or thrown. */
    CampaignState returned() {
        return next(phase, term, end, Step.NONE, failures);
    }

    /** Ends a term. Does not apply if it has ended. */
    CampaignState ended(EngineLeadership ending, TermEnd how) {
        return presentTerm() == ending ? next(State.STEPPING_DOWN, ending, how, step, failures) : this;
    }

    CampaignState releasing() {
        return next(phase, term, end, Step.RELEASING, failures);
    }

    /**
     * The store has answered the release of a term, or never will. Applies once to each term.
     *
     * @param following what the campaign does next unless it is closed
     */
    CampaignState released(EngineLeadership released, State following, int failuresInARow) {
        return term == released && step == Step.RELEASING
                ? next(orEnded(following), null, null, Step.NONE, failuresInARow)
                : this;
    }

    // ---- Closing

    /**
     * Closes the campaign. Does not apply if it is closed.
     *
     * @param clientClosed why, if it is because the client was closed
     */
    CampaignState closed(@Nullable RuntimeException clientClosed) {
        if (isClosed) {
            return this;
        }
        boolean isIdle = phase == State.WAITING || (phase == State.PAUSED && step == Step.NONE);
        return new CampaignState(
                isIdle ? State.ENDED : phase,
                term,
                end,
                step,
                failures,
                clientClosed == null ? lastError : clientClosed,
                true);
    }

    CampaignState noting(Throwable failure) {
        return new CampaignState(phase, term, end, step, failures, failure, isClosed);
    }

    private State orEnded(State following) {
        return isClosed ? State.ENDED : following;
    }

    private CampaignState next(
            State nextPhase,
            @Nullable EngineLeadership nextTerm,
            @Nullable TermEnd nextEnd,
            Step nextStep,
            int nextFailures) {
        return new CampaignState(nextPhase, nextTerm, nextEnd, nextStep, nextFailures, lastError, isClosed);
    }
}
