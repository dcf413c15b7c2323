package dev.holdfast.spring;

import dev.holdfast.Hold;
import dev.holdfast.spring.execution.HeldLocks;
import dev.holdfast.spring.execution.HeldStack;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.util.List;

/**
 * The locks that the calling thread works under by {@link Locked}, {@link ScheduledLock} or {@link LockTemplate}: for
 * their fencing tokens, and for code that must not run without a lock, whoever calls it.
 *
 * <pre>{@code
 * void append(Entry entry) {
 *     CurrentLocks.ensureHeld("ledger");
 *     file.write(entry, CurrentLocks.fencingToken("ledger"));
 * }
 * }</pre>
 *
 * <p>They are those of the thread that a method is called on, until it returns. What a method returns as a stage or a
 * {@code Mono} runs later and elsewhere: read the token before.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, and answer for that thread.
 */
public final class CurrentLocks {

    private CurrentLocks() {}

    /** The names of the locks, innermost first; empty if there are none. */
    public static List<String> names() {
        return HeldStack.names();
    }

    /**
     * Makes sure that the thread works under a lock, and that the innermost is good; waits while it is in doubt, see
     * {@link dev.holdfast.Hold#ensureHeld()}.
     *
     * @throws IllegalStateException if there is none: the method was called past the proxy, or from elsewhere
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static void ensureHeld() {
        innermost().ensureHeld();
    }

    /**
     * Makes sure that the thread works under a lock of this name, and that it is good; as {@link #ensureHeld()}.
     *
     * @throws IllegalStateException if there is none
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static void ensureHeld(String name) {
        named(name).ensureHeld();
    }

    /**
     * The fencing token of the innermost lock, to be sent along with what is written.
     *
     * @throws IllegalStateException if there is none, or there are several: name one
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static long fencingToken() {
        HeldLocks held = innermost();
        if (held.names().size() > 1) {
            throw new IllegalStateException("There are several locks here, " + held.names()
                    + ", each with a token of its own: call fencingToken(name)");
        }
        return held.fencingToken(held.names().get(0));
    }

    /**
     * The fencing token of the lock of this name.
     *
     * @throws IllegalStateException if there is none
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static long fencingToken(String name) {
        return named(name).fencingToken(name);
    }

    /**
     * What tells the hold on this name from all others, to go with the {@linkplain #fencingToken(String) token} to a
     * guard that keeps both; see {@link Hold#holdId()}.
     *
     * @throws IllegalStateException if there is none
     */
    public static String holdId(String name) {
        return named(name).holdId(name);
    }

    /**
     * The hold on the innermost lock, as for a fence guard. It is released when the method ends; leave it open.
     *
     * @throws IllegalStateException if there is none, or there are several, which have tokens and ids by name
     */
    public static Hold hold() {
        return single(innermost());
    }

    /**
     * The hold on the lock of this name, as {@link #hold()}.
     *
     * @throws IllegalStateException if there is none, or it was taken together with others
     */
    public static Hold hold(String name) {
        return single(named(name));
    }

    private static Hold single(HeldLocks held) {
        return held.single()
                .orElseThrow(() -> new IllegalStateException("The locks " + held.names() + " were taken together, and"
                        + " have no hold each: call fencingToken(name) and holdId(name)"));
    }

    /**
     * Extends the lock of the innermost {@link ScheduledLock} job that the thread runs: sets anew how long it lasts at
     * most and at least, both from now. For a job that finds out on the way that it takes longer.
     *
     * <p><b>Blocking</b> and <b>interruption</b> are those of {@link TaskHold#extend(TaskOptions)}.
     *
     * @throws IllegalStateException if the thread runs no job
     * @throws dev.holdfast.LockLostException if its lock was lost: another process may run the job
     * @throws dev.holdfast.StoreUnavailableException if the store did not answer; the lock lasts for the old or the new
     *     time
     */
    public static void extend(TaskOptions options) {
        HeldStack.job()
                .orElseThrow(() -> new IllegalStateException("This thread runs no job with @ScheduledLock, but works"
                        + " under " + HeldStack.names() + ". Other locks are renewed until their work ends"))
                .extend(options);
    }

    private static HeldLocks innermost() {
        return HeldStack.innermost()
                .orElseThrow(() -> new IllegalStateException("This thread works under no lock. Call the method with"
                        + " @Locked through its bean, or LockTemplate, around this"));
    }

    private static HeldLocks named(String name) {
        return HeldStack.named(name)
                .orElseThrow(() -> new IllegalStateException("This thread does not work under the lock '" + name
                        + "', but under " + HeldStack.names() + ". Call the method with @Locked through its bean, or"
                        + " LockTemplate, around this"));
    }
}
