package dev.holdfast.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A candidacy that goes on by itself: it waits, leads, and stands again, until it is closed or the client is.
 *
 * <p>Nothing but that ends it. After a loss, an error of the candidate or trouble with the store it stands again after
 * a pause, which doubles from time to time and is spread by chance ({@link CampaignOptions#withLongestPause}); after a
 * term that was resigned at once, but for a term that was shorter than the shortest pause, which it waits for.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Campaign extends AutoCloseable {

    /** What a campaign is doing. */
    enum State {
        /** It waits to be elected. */
        WAITING,
        /** It leads. */
        LEADING,
        /** Its term is over, but the candidate is not done with it yet, or the store has not confirmed. */
        STEPPING_DOWN,
        /** It stands again after a pause. */
        PAUSED,
        /** It was closed. */
        ENDED
    }

    /** The name that is campaigned for. */
    String name();

    /** What it is doing now. */
    State state();

    /** The present term; empty while it does not lead. */
    Optional<Leadership> leadership();

    /** What failed last; empty if nothing has. */
    Optional<Throwable> lastError();

    /**
     * Gives up the present term and stands again behind all who wait, as {@link Leadership#resign()}. Never blocks.
     *
     * @return whether there was a term to give up
     */
    @CanIgnoreReturnValue
    boolean resign();

    /**
     * Ends the campaign: a term is given up, a wait is withdrawn and never leads. Idempotent.
     *
     * <p><b>Blocking:</b> until {@link Candidate#onElected}, which is interrupted, and {@link Candidate#onTermEnd} have
     * returned and the store has answered, at most for the store time-out; a candidate that does not end by then keeps
     * its leadership at the store until it does. Called by the candidate itself it does not wait. <b>Interruption:</b>
     * has no effect, and the flag stays set.
     */
    @Override
    void close();

    /**
     * Ends the campaign as {@link #close()} does, without blocking.
     *
     * @return the stage of {@link #ended()}
     */
    @CanIgnoreReturnValue
    CompletionStage<Void> closeAsync();

    /**
     * A stage that ends, on the client's callback executor, when the campaign has ended, closed by itself or with its
     * client.
     */
    CompletionStage<Void> ended();
}
