package dev.holdfast.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A candidacy: it waits to be elected, leads, and waits again after each term, until it or the client is closed.
 *
 * <p>Nothing else ends it. After a loss, an exception of the candidate or a failure of the store it waits again after a
 * random pause, which doubles from failure to failure ({@link CampaignOptions#withLongestPause}). After a resignation
 * it waits again at once, unless the term was shorter than the shortest pause, which it then waits for.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Campaign extends AutoCloseable {

    /** The state of a campaign. */
    enum State {
        /** It waits to be elected. */
        WAITING,
        /** It leads. */
        LEADING,
        /** Its term has ended, but the candidate has not finished, or the store has not confirmed the release. */
        STEPPING_DOWN,
        /** It waits again after a pause. */
        PAUSED,
        /** It was closed. */
        ENDED
    }

    /** The name of the election. */
    String name();

    /** The current state. */
    State state();

    /** The current term; empty while it does not lead. */
    Optional<Leadership> leadership();

    /** The last failure; empty for none. */
    Optional<Throwable> lastError();

    /**
     * Ends the current term and waits again behind all other candidates, as {@link Leadership#resign()}. Never blocks.
     *
     * @return whether there was a term to end
     */
    @CanIgnoreReturnValue
    boolean resign();

    /**
     * Ends the campaign: its term ends, or its wait is withdrawn and never leads. Idempotent.
     *
     * <p><b>Blocking:</b> until {@link Candidate#onElected}, which is interrupted, and {@link Candidate#onTermEnd} have
     * returned and the store has answered, at most for the store time-out; a candidate that has not returned by then
     * keeps its leadership at the store until it has. Does not wait if called by the candidate itself.
     * <b>Interruption:</b> has no effect, and the flag stays set.
     */
    @Override
    void close();

    /**
     * As {@link #close()}, without blocking.
     *
     * @return the stage of {@link #ended()}
     */
    @CanIgnoreReturnValue
    CompletionStage<Void> closeAsync();

    /**
     * A stage that completes, on the client's callback executor, when the campaign has ended because it or its client
     * was closed.
     */
    CompletionStage<Void> ended();
}
