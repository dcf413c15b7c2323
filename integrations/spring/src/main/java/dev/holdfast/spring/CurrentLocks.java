package dev.holdfast.spring;

import dev.holdfast.Hold;
import dev.holdfast.spring.execution.HeldLocks;
import dev.holdfast.spring.execution.HeldStack;
import dev.holdfast.task.TaskHold;
import dev.holdfast.task.TaskOptions;
import java.util.List;

/**
 * The locks under which the calling thread works, by {@link Locked}, {@link ScheduledLock} or {@link LockTemplate}: for
 * their fencing tokens, and for code that must never run without a lock.
 *
 * <pre>{@code
 * void append(Entry entry) {
 *     CurrentLocks.ensureHeld("ledger");
 *     file.write(entry, CurrentLocks.fencingToken("ledger"));
 * }
 * }</pre>
 *
 * <p>A method has them on the thread that calls it, until it returns. A stage or {@code Mono} that it returns runs
 * later on other threads: read the token before.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread, and concern that thread.
 */
public final class CurrentLocks {

    private CurrentLocks() {}

    /** The names of the locks, innermost first; empty if there are none. */
    public static List<String> names() {
        return HeldStack.names();
    }

    /**
     * Checks that the thread works under a lock, and that the innermost is still held; waits while that is in doubt,
     * see {@link dev.holdfast.Hold#ensureHeld()}.
     *
     * @throws IllegalStateException if there is none: the call bypassed the proxy, or came from unlocked code
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static void ensureHeld() {
        innermost().ensureHeld();
    }

    /**
     * Checks that the thread works under a lock of this name, and that it is still held; see {@link #ensureHeld()}.
     *
     * @throws IllegalStateException if there is none
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static void ensureHeld(String name) {
        named(name).ensureHeld();
    }

    /**
     * The fencing token of the innermost lock, to send with every write.
     *
     * @throws IllegalStateException if there is none, or there are several: name one
     * @throws dev.holdfast.LockLostException if it was lost
     */
    public static long fencingToken() {
        HeldLocks locks = innermost();
        if (locks.names().size() > 1) {
            throw new IllegalStateException("Several locks are held here, " + locks.names()
                    + ", each with its own token: call fencingToken(name)");
        }
        return locks.fencingToken(locks.names().get(0));
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
     * The unique id of the hold on this name, for a guard that keeps it with the {@linkplain #fencingToken(String)
     * token}; see {@link Hold#holdId()}.
     *
     * @throws IllegalStateException if there is none
     */
    public static String holdId(String name) {
        return named(name).holdId(name);
    }

    /**
     * The hold on the innermost lock, for example for a fence guard. It is released when the method ends; don't close
     * it.
     *
     * @throws IllegalStateException if there is none, or there are several, which have tokens and ids by name
     */
    public static Hold hold() {
        return single(innermost());
    }

    /**
     * The hold on the lock of this name, see {@link #hold()}.
     *
     * @throws IllegalStateException if there is none, or it was acquired together with others
     */
    public static Hold hold(String name) {
        return single(named(name));
    }

    private static Hold single(HeldLocks locks) {
        return locks.single()
                .orElseThrow(() -> new IllegalStateException("The locks " + locks.names()
                        + " were acquired as one multi-lock, so none has its own Hold: call "
                        + "fencingToken(name) and holdId(name)"));
    }

    /**
     * Extends the lock of the innermost {@link ScheduledLock} job that the thread runs: sets its longest and its least
     * time again, both from now. For a job that turns out to take longer.
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
                .orElseThrow(() -> new IllegalStateException(
                        "This thread does not run a job with @ScheduledLock; its locks are " + HeldStack.names()
                                + ". Only a job's lock can be extended; other locks are renewed until their work ends"))
                .extend(options);
    }

    private static HeldLocks innermost() {
        return HeldStack.innermost()
                .orElseThrow(() -> new IllegalStateException(
                        "This thread holds no lock. Call the @Locked method through its bean, or wrap this "
                                + "code in a LockTemplate call"));
    }

    private static HeldLocks named(String name) {
        return HeldStack.named(name)
                .orElseThrow(() -> new IllegalStateException("This thread does not hold the lock '" + name + "', but "
                        + HeldStack.names()
                        + ". Call the @Locked method through its bean, or wrap this code in a LockTemplate " + "call"));
    }
}
