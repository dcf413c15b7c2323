package dev.holdfast;

import dev.holdfast.spi.support.DurationFormat;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A cycle of threads, each of which holds what the one before it waits for. It existed at one moment; by the time it is
 * reported, a member may have given up.
 *
 * <p>Only locks and both sides of read-write locks, held by a thread and without a lease of their own, are part of a
 * cycle: permits, asynchronous holds and leases that end can be released by others, or by time.
 *
 * @param members at least two; the last one waits for what the first one holds
 */
public record Deadlock(List<Member> members) implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Copies the list. */
    public Deadlock {
        members = List.copyOf(members);
    }

    /**
     * A thread in the cycle.
     *
     * @param label the label of its client
     * @param session the id of its client's session at the store
     * @param thread the name of the thread
     * @param holds the name that it holds, and that the member before it waits for
     * @param token the fencing token of that hold
     * @param message the message of that hold; may be empty
     * @param awaits the name that it waits for, and that the next member holds
     * @param isBehindWriter whether it waits as a reader behind a writer, which waits for the next member
     * @param waited how long it has waited; of another client, when that last stated it
     * @param isEnded whether its wait is chosen to end with {@link LockDeadlockException}
     */
    public record Member(
            String label,
            String session,
            String thread,
            String holds,
            long token,
            String message,
            String awaits,
            boolean isBehindWriter,
            Duration waited,
            boolean isEnded)
            implements Serializable {

        private static final long serialVersionUID = 1L;

        private String named() {
            return "'" + label + "' thread " + thread;
        }

        private String tokenAndMessage() {
            return "(token " + token + (message.isEmpty() ? "" : ", \"" + message + "\"") + ")";
        }

        private String wait(String verb) {
            return verb + " waited " + DurationFormat.format(Duration.ofMillis(waited.toMillis() / 100 * 100))
                    + " for '" + awaits + "'" + (isBehindWriter ? " behind a writer" : "");
        }
    }

    /** The cycle in a sentence, without a full stop. */
    public String describe() {
        Member first = members.get(0);
        return "deadlock of " + members.size() + ": " + first.named() + " holds '" + first.holds() + "' "
                + first.tokenAndMessage() + " and " + first.wait("has")
                + members.stream()
                        .skip(1)
                        .map(next -> ", held by " + next.named() + " " + next.tokenAndMessage() + ", which "
                                + next.wait("has"))
                        .collect(Collectors.joining());
    }
}
