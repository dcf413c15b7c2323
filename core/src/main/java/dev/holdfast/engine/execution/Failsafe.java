package dev.holdfast.engine.execution;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * Whatever is thrown, what comes after it is done all the same: another claim's answer, the next timer, the turn of a
 * lane. An error of the virtual machine is no exception to that. There may be no memory, no thread or no stack just
 * now, and a little later there is; a claim that was forgotten meanwhile would be renewed for ever.
 */

/** Runs what must not keep anything else from being done. */
public final class Failsafe {
    private static final Logger log = LoggerFactory.getLogger(Failsafe.class);

    private Failsafe() {}

    /**
     * Runs something, and logs what it throws.
     *
     * @return what was thrown; null if nothing was
     */
    public static @Nullable Throwable run(String what, Runnable action) {
        try {
            action.run();
            return null;
        } catch (Throwable t) {
            log(what, t);
            return t;
        }
    }

    /** Logs what was thrown. Never throws: there may be too little memory or stack left to log. */
    public static void log(String what, Throwable thrown) {
        try {
            log.error("{} failed; the client goes on", what, thrown);
        } catch (Throwable again) {
            // What follows matters more than what is said of it.
        }
    }
}
