package dev.holdfast.election;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One term of one leader.
 *
 * <p>It ends once: it is lost, resigned, or ends because the candidate failed or the campaign was closed. It never
 * leads again; a candidate that is elected again has a new leadership with a greater term.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Leadership {

    /** The name of the election. */
    String name();

    /**
     * The number of the term, which is the fencing token of its grant: greater than that of every term before. Also
     * available after the end; before writing with it, call {@link #ensureLeader()}. In JSON it is a string.
     */
    long term();

    /** The unique id of this term, as {@link Hold#holdId()}. */
    String holdId();

    /**
     * Whether this term lasts: it has not ended, is not past its deadline and not in doubt. Turns false before the
     * store can elect another, provided that clocks run at rates within the margin. Sends nothing to the store.
     */
    boolean isLeader();

    /**
     * Checks that this term lasts now, and waits while it is in doubt.
     *
     * <p><b>Blocking:</b> only while in doubt, until the store has answered, at the latest until the deadline.
     * <b>Interruption:</b> ends the wait; the flag stays set.
     *
     * @throws LockLostException if the leadership was lost, or the wait was interrupted while in doubt
     * @throws IllegalStateException if the term has ended otherwise
     */
    void ensureLeader();

    /** The time until the term ends without renewal; zero if it has ended. Renewals extend it. */
    Duration remaining();

    /**
     * Adds a listener for the loss of this term: an end that neither the leader nor its campaign requested. Another may
     * lead by then. Called like that of {@link #onEnd(Consumer)}.
     *
     * @return this leadership
     */
    @CanIgnoreReturnValue
    Leadership onLost(Consumer<? super Loss> listener);

    /**
     * Adds a listener for the end of this term, for any reason. It is called once, on its own thread, even while {@link
     * Candidate#onElected} runs, or at once if the term has ended already. What it throws is logged.
     *
     * @return this leadership
     */
    @CanIgnoreReturnValue
    Leadership onEnd(Consumer<? super TermEnd> listener);

    /** A stage that completes at the end of this term, on the client's callback executor. */
    CompletionStage<TermEnd> ended();

    /**
     * Waits until this term has ended. In {@link Candidate#onElected} it also clears the interrupt that announces the
     * end of the term, so that the candidate can finish undisturbed.
     *
     * <p><b>Blocking:</b> as long as the term lasts.
     *
     * @throws InterruptedException if interrupted before the end of the term
     */
    @CanIgnoreReturnValue
    TermEnd awaitEnd() throws InterruptedException;

    /**
     * Ends this term; the candidate waits again, behind all others. From now on {@link #isLeader()} is false. The store
     * elects the next leader when {@link Candidate#onElected}, which is interrupted, and {@link Candidate#onTermEnd}
     * have returned. Never blocks.
     *
     * @return whether this call has ended the term
     */
    @CanIgnoreReturnValue
    boolean resign();

    /**
     * As {@link #resign()}, and closes the campaign.
     *
     * @return whether this call has ended the term
     */
    @CanIgnoreReturnValue
    boolean resignAndLeave();
}
