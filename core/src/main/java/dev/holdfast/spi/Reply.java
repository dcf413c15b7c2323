package dev.holdfast.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What a store answers. A failure to answer is no reply but a {@link StoreException}.
 */
public sealed interface Reply {

    /**
     * The state of one claim: what {@code Acquire} and {@code Yield} answer, and what {@code Poll} answers for each
     * claim.
     */
    sealed interface ClaimReply extends Reply {
        /** Calls the method of a handler that is for this answer. */
        void accept(ClaimReplyHandler handler);
    }

    /**
     * The session is open.
     *
     * @param ttl the ttl that the store really keeps; at least the one that was asked for
     */
    record SessionOpened(SessionId session, Duration ttl) implements Reply {}

    /** The session lives, and its deadline is its ttl from the moment the store handled the command. */
    record SessionAlive() implements Reply {}

    /** The session is not there any more, and will never be again; so is all that it held, detached grants aside. */
    record SessionEnded() implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.sessionEnded(this);
        }
    }

    /** This sending had no effect, because its epoch is below the session's: neither refused nor ended. */
    record Stale() implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.stale(this);
        }
    }

    /**
     * The claim holds.
     *
     * @param tokens the newest block of the grant
     * @param remaining what is left of its own lease by the store's clock at the answer; empty for a session lease
     * @param awaited whether a live waiter stands in the queue, whoever it is; true where the store can't know
     */
    record Granted(TokenBlock tokens, Optional<Duration> remaining, boolean awaited) implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.granted(this);
        }
    }

    /**
     * The claim waits.
     *
     * @param recheckIn poll then at the latest, push or not: the time to the earliest expiry that could let a
     *     claim in, at most a third of the ttl
     */
    record Queued(Duration recheckIn) implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.queued(this);
        }
    }

    /**
     * The claim was not made, or was ended because it can never be admitted.
     *
     * @param reason why
     * @param detail what people need to know: what is declared there, who holds it
     */
    record Refused(Refusal reason, String detail) implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.refused(this);
        }
    }

    /** The store has no such claim or grant. */
    record Absent() implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.absent(this);
        }
    }

    /** The states of the claims that were polled, in the order of the request. */
    record Polled(List<ClaimReply> states) implements Reply {
        /** Copies the list. */
        public Polled {
            states = List.copyOf(states);
        }
    }

    /**
     * What a session has.
     *
     * @param granted its grants
     * @param waiting its queued claims
     * @param cursor where the next page begins; empty after the last
     */
    record Audited(List<ClaimRef> granted, List<ClaimRef> waiting, Optional<String> cursor) implements Reply {
        /** Copies the lists. */
        public Audited {
            granted = List.copyOf(granted);
            waiting = List.copyOf(waiting);
        }
    }

    /** It was released by this command. */
    record Released() implements Reply {}

    /** It is done, or was before. */
    record Done() implements Reply {}

    /**
     * The newest block of the grant.
     *
     * @param awaited as in {@link Granted}
     */
    record Advanced(TokenBlock tokens, boolean awaited) implements Reply {}

    /**
     * What is left of the lease by the store's clock at the answer.
     *
     * @param seq the last extension that acted
     */
    record Extended(long seq, Duration remaining) implements Reply {}

    /**
     * The state of a latch.
     *
     * @param generation its generation, 0 if it was never set
     * @param remaining what is left to count; 0 when it is open
     */
    record Count(long generation, long remaining) implements Reply {}

    /**
     * A page of what the store records, in the order of the names where the trait {@code orderedInspection} is set; or
     * of what it records about one name, which is then in each page, or in none if it is not in use.
     *
     * @param damaged the records of the page that can't be read, and are in the way of no other; none where one name is
     *     asked about, whose damage is a {@link StoreException}
     * @param cursor where the next page begins; empty after the last
     */
    record Inspected(List<ResourceInfo> resources, List<DamagedRecord> damaged, Optional<String> cursor)
            implements Reply {
        /** Copies the lists. */
        public Inspected {
            resources = List.copyOf(resources);
            damaged = List.copyOf(damaged);
        }

        /** A page on which nothing is damaged. */
        public Inspected(List<ResourceInfo> resources, Optional<String> cursor) {
            this(resources, List.of(), cursor);
        }
    }

    /**
     * The history of a scheduled task.
     *
     * @param runs its newest runs, by falling tokens; at most {@link Command.RecordRun#KEPT}
     */
    record Runs(List<Run> runs) implements Reply {
        /** Copies the list. */
        public Runs {
            runs = List.copyOf(runs);
        }

        /**
         * A run.
         *
         * @param token its fencing token
         * @param text what its client has recorded
         */
        public record Run(long token, String text) {}
    }

    /** The store can't do that, as its traits say. */
    record Unsupported(String why) implements ClaimReply {
        @Override
        public void accept(ClaimReplyHandler handler) {
            handler.unsupported(this);
        }
    }
}
