package dev.holdfast.engine.deadlock;

import java.util.List;

/**
 * A nested wait of this client, as its tables show it at one moment.
 *
 * @param request the identity of the wait
 * @param thread the identity of its thread
 * @param threadName the name of its thread
 * @param awaits the name that it waits for
 * @param blocking which holds block it
 * @param reason why it is blocked by all holds: if that changes, it is stated as a new wait
 * @param waitedMillis how long it has lasted
 * @param mayFail whether it may be ended to resolve a deadlock
 * @param holds what its thread holds, and only a release ends
 */
public record OwnWait(
        Object request,
        Object thread,
        String threadName,
        String awaits,
        WaitLine.Blocking blocking,
        String reason,
        long waitedMillis,
        boolean mayFail,
        List<Hold> holds) {

    /**
     * The same wait, of a reader.
     *
     * @param writerBefore which writer is before it, because of which all holds block it; empty if there is none
     */
    OwnWait ofReader(String writerBefore) {
        return new OwnWait(
                request,
                thread,
                threadName,
                awaits,
                writerBefore.isEmpty() ? WaitLine.Blocking.WRITERS : WaitLine.Blocking.ALL_BEHIND_WRITER,
                writerBefore,
                waitedMillis,
                mayFail,
                holds);
    }

    /**
     * A hold of the thread.
     *
     * @param grant the identity of its grant
     */
    public record Hold(Object grant, String name, boolean isWrite, long token, Owner owner) {}

    /**
     * Whose a hold is, for people.
     *
     * @param message the message of the hold; may be empty
     */
    public record Owner(String label, String session, String message) {}
}
