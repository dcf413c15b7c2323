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
 * <p>It ends once: it is lost, resigned, or given up because the candidate failed or the campaign was closed. From then
 * on it never leads again; a candidate that is elected anew has a new leadership with a greater term.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public interface Leadership {

    /** The name that was campaigned for. */
    String name();

    /**
     * The number of the term, which is the fencing token of its grant: greater than that of every term before. Also
     * told after the end; to write with it, call {@link #ensureLeader()} first. In JSON it is a string.
     */
    long term();

    /** What tells this term from all others that could ever have the same number, as {@link Hold#holdId()}. */
    String holdId();

    /**
     * Whether this term goes on: not over, not past its deadline and not in doubt. Turns false before the store can
     * elect another, provided that clocks run at rates within the margin. Answered without the store.
     */
    boolean isLeader();

    /**
     * Makes sure that this term goes on now, and waits while it is in doubt.
     *
     * <p><b>Blocking:</b> only while in doubt, until the store has answered, at the latest until the deadline.
     * <b>Interruption:</b> ends the wait; the flag stays set.
     *
     * @throws LockLostException if the leadership was lost, or the wait was interrupted before the doubt was over
     * @throws IllegalStateException if it was given up
     */
    void ensureLeader();

    /** What is left of the term if it is not renewed; zero when it is over. Renewal makes it longer. */
    Duration remaining();

    /**
     * Adds a listener for the loss of this term: an end that neither the leader nor its campaign asked for. Another may
     * lead by then. Called as that of {@link #onEnd(Consumer)}.
     *
     * @return this leadership
     */
    @CanIgnoreReturnValue
    Leadership onLost(Consumer<? super Loss> listener);

    /**
     * Adds a listener for the end of this term, whatever ends it. It is called once, on a thread of its own, even while
     * {@link Candidate#onElected} runs; at once if the term is over already. What it throws is logged.
     *
     * @return this leadership
     */
    @CanIgnoreReturnValue
    Leadership onEnd(Consumer<? super TermEnd> listener);

    /** A stage that completes at the end of this term, on the client's callback executor. */
    CompletionStage<TermEnd> ended();

    /**
     * Waits until this term is over. In {@link Candidate#onElected} it also clears the interrupt that announces the end
     * of the term there, so that the candidate can finish undisturbed.
     *
     * <p><b>Blocking:</b> as long as the term lasts.
     *
     * @throws InterruptedException if interrupted before the term was over
     */
    @CanIgnoreReturnValue
    TermEnd awaitEnd() throws InterruptedException;

    /**
     * Gives up this term; the candidate stands again, behind all who wait. From here on {@link #isLeader()} is false;
     * the store elects the next when {@link Candidate#onElected}, which is interrupted, and {@link Candidate#onTermEnd}
     * have returned. Never blocks.
     *
     * @return whether this call has ended the term
     */
    @CanIgnoreReturnValue
    boolean resign();

    /**
     * As {@link #resign()}, but the candidate leaves: its campaign is closed.
     *
     * @return whether this call has ended the term
     */
    @CanIgnoreReturnValue
    boolean resignAndLeave();
}
