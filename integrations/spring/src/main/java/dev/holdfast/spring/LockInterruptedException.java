package dev.holdfast.spring;

import dev.holdfast.HoldfastException;
import java.util.List;

/**
 * The thread was interrupted while it waited for the lock of a method that does not declare {@link
 * InterruptedException}. The method was not run, the claim is withdrawn, and the thread's interrupt flag is set.
 */
public final class LockInterruptedException extends HoldfastException {

    private static final long serialVersionUID = 1L;

    /** Called by the interceptor. */
    public LockInterruptedException(List<String> names, String work, String store, InterruptedException cause) {
        super(
                "The thread was interrupted while it waited for " + String.join(", ", names) + ", so " + work
                        + " was not run (" + store + ").",
                names.get(0),
                store,
                cause);
    }
}
