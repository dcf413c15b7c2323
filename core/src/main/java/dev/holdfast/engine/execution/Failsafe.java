package dev.holdfast.engine.execution;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/*
 * After any exception the next steps still happen: the reply to another claim, the next timer, the next round trip of a
 * lane. This includes errors of the virtual machine. Memory, threads or stack may be short now and available a little
 * later, and a claim that was forgotten meanwhile would be renewed forever.
 */

/** Runs actions whose failure must not affect others. */
public final class Failsafe {
    private static final Logger log = LoggerFactory.getLogger(Failsafe.class);

    private Failsafe() {}

    /**
     * Runs an action, and logs what it throws.
     *
     * @return what was thrown; null for nothing
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
            log.error("{} failed; the client continues", what, thrown);
        } catch (Throwable again) {
            // The steps that follow matter more than the log.
        }
    }
}
