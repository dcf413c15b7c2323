package dev.holdfast.spring;

import dev.holdfast.spring.execution.HeldLocks;
import dev.holdfast.spring.execution.HeldStack;
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
