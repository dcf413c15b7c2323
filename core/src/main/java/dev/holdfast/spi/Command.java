package dev.holdfast.spi;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A command of a client to a store. Each command names its possible replies. In addition, {@link Reply.SessionEnded}
 * may answer every command that needs a live session, and {@link Reply.Stale} every command that carries an epoch.
 *
 * <p>All durations are positive and at most {@link #MAX_DURATION}. Constructors reject what no store could execute. A
 * store handles the commands by a {@link CommandHandler}.
 */
public sealed interface Command {

    /** The longest duration that a command may carry: a hundred years. */
    Duration MAX_DURATION = Duration.ofDays(36_525);

    /** Whether the same command, with the same ids, may have reached the store before. */
    enum Sending {
        /** It is sent for the first time. */
        FIRST,
        /**
         * It was sent before with an unknown outcome. A store that can't check the epoch in its atomic step remembers
         * an ended claim for its stated retention, so that a late duplicate finds it.
         */
        REPEAT
    }

    /** What happens to a claim that can't be granted at once. */
    enum Waiting {
        /** It is queued at the tail. */
        QUEUE,
        /** It is refused, and leaves nothing behind. */
        TRY
    }

    /** Calls the handler's method for this command. */
    <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X;

    /** A command that concerns one session, and no resource. */
    sealed interface OnSession extends Command {
        /** The session it concerns. */
        SessionId session();
    }

    /** A command that concerns one resource; a store keeps them in order per resource. */
    sealed interface OnResource extends Command {
        /** The resource it concerns. */
        ResourceName resource();
    }

    /** A command that concerns one claim. */
    sealed interface OnClaim extends OnResource {
        /** The claim it concerns. */
        ClaimRef claim();

        @Override
        default ResourceName resource() {
            return claim().resource();
        }
    }

    /**
     * A command that makes a claim: an {@link Acquire}, or a {@link Yield}, whose {@link #claim} is the grant that it
     * releases. The reply is the state of the new claim.
     */
    sealed interface Claiming extends OnClaim {
        /** The claim that it makes. */
        Acquire request();
    }

    /**
     * Opens a session, and answers {@link Reply.SessionOpened}. The store chooses the id, so a late duplicate opens a
     * separate session, which no client keeps alive, and never revives an old one.
     *
     * @param ttl how long it lives without a keep-alive; a store may lengthen it to its minimum and granularity
     * @param label a description for people: at most 256 bytes of UTF-8
     * @param partition the partition of the session, see {@link LockStore#partitions()}; the id identifies it to the
     *     store
     */
    record OpenSession(Duration ttl, String label, int partition) implements Command {
        /** The longest label, in bytes of UTF-8. */
        public static final int MAX_LABEL_BYTES = 256;

        /**
         * Checks the ttl, the label and the partition.
         *
         * @throws IllegalArgumentException if the ttl is not positive or beyond {@link #MAX_DURATION}, the
         *     label is too long, or the partition is negative
         */
        public OpenSession {
            checkLeast("The number of a partition", partition, 0);
            checkDuration("The ttl of a session", ttl);
            if (label.getBytes(StandardCharsets.UTF_8).length > MAX_LABEL_BYTES) {
                throw new IllegalArgumentException("A label may have at most " + MAX_LABEL_BYTES + " bytes of UTF-8");
            }
        }

        /** A session of the first partition, the only one of most stores. */
        public OpenSession(Duration ttl, String label) {
            this(ttl, label, 0);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.openSession(this);
        }
    }

    /**
     * Moves the deadline of a session to its ttl from now if it still lives, and raises its epoch to the given one if
     * that is higher; answers {@link Reply.SessionAlive}, {@link Reply.SessionEnded} or {@link Reply.Stale}. It never
     * revives a session.
     *
     * @param epoch from now on, every {@code Acquire}, {@code Yield}, {@code KeepAlive}, {@code Resize} and
     *     {@code SetCount} below it is stale
     * @param responseTimeout how long the client waits for a reply before it sends another keep-alive. A store with
     *     connections ensures that the next one does not wait behind a connection that was silent for this long
     */
    record KeepAlive(SessionId session, long epoch, Duration responseTimeout) implements OnSession {
        /** With no time-out but that of the store. */
        public KeepAlive(SessionId session, long epoch) {
            this(session, epoch, MAX_DURATION);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.keepAlive(this);
        }
    }

    /**
     * Raises the epoch of a session to its highest value <em>without</em> moving the deadline: it can't make new
     * claims, and its grants stay until they are released or expire. Answers {@link Reply.Done}, also for a session
     * that has ended.
     */
    record Retire(SessionId session) implements OnSession {
        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.retire(this);
        }
    }

    /**
     * Ends a session with all of its claims, except detached grants that were picked up. Answers {@link
     * Reply.Done}.
     */
    record CloseSession(SessionId session) implements OnSession {
        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.closeSession(this);
        }
    }

    /**
     * Claims a resource. Answers {@link Reply.Granted}, {@link Reply.Queued} or {@link Reply.Refused}; sent again,
     * the claim's <em>current</em> state. If the claim has ended, a repetition makes a new one unless its epoch is
     * stale: that is the purpose of epochs.
     *
     * @param epoch the epoch under which it is sent
     * @param spec what the resource is declared to be
     * @param weight how much of the capacity is requested: 1 to the capacity, or 0 for a <em>pass</em> claim on a
     *     latch. A pass claim is admitted while the latch is not counting. It then is a grant of weight 0, which
     *     excludes no other claim, and is recorded until it is released or withdrawn or its session ends, so that a
     *     lost reply can be repeated
     * @param lease what ends the grant
     * @param waiting whether it queues
     * @param tokens how many tokens are requested, 1 to {@link TokenBlock#MAX_SIZE}; the store may reserve fewer, but
     *     at least one
     */
    record Acquire(
            ClaimRef claim,
            long epoch,
            Sending sending,
            ResourceSpec spec,
            int weight,
            Lease lease,
            Waiting waiting,
            int tokens)
            implements Claiming {

        /**
         * Checks the weight against the declared capacity.
         *
         * @throws IllegalArgumentException if the weight, the number of tokens or the length of the lease is out
         *     of range
         */
        public Acquire {
            int least = spec.kind() == Kind.LATCH ? 0 : 1;
            int most = spec.kind() == Kind.LATCH ? 0 : spec.capacity();
            if (weight < least || weight > most) {
                throw new IllegalArgumentException(
                        "A claim on " + claim.resource() + " may weigh " + least + " to " + most + ", not " + weight);
            }
            checkTokens(tokens);
            if (lease.binding() != Lease.Binding.SESSION) {
                checkDuration("A lease", lease.length());
            }
        }

        @Override
        public Acquire request() {
            return this;
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.acquire(this);
        }
    }

    /**
     * Returns the current state of claims, waiting or granted: {@link Reply.Polled}, with {@link Reply.Granted}, {@link
     * Reply.Queued} or {@link Reply.Absent} for each, in the order of the request. A fixed lease that was granted
     * from the queue begins with the first poll that reports the grant.
     */
    record Poll(List<ClaimRef> claims) implements Command {
        /** Copies the list. */
        public Poll {
            claims = List.copyOf(claims);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.poll(this);
        }
    }

    /**
     * Lists all claims that the store records under a session, page by page: {@link Reply.Audited}. Of a session that
     * has ended, these are the remaining detached grants. A claim that exists from the first page to the last is listed
     * once.
     *
     * @param cursor the end of the page before, empty for the first
     * @param limit the size of a page, at least 1
     */
    record Audit(SessionId session, Optional<String> cursor, int limit) implements OnSession {
        /**
         * Checks the limit.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        public Audit {
            checkLeast("The size of a page", limit, 1);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.audit(this);
        }
    }

    /**
     * Ends a claim in any state; a granted one is released. Answers {@link Reply.Done}. Needs no live
     * session.
     *
     * @param outcome {@link Sending#REPEAT} if the outcome of the command that made the claim is unknown
     */
    record Withdraw(ClaimRef claim, Sending outcome) implements OnClaim {
        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.withdraw(this);
        }
    }

    /**
     * Ends a grant and admits the next waiters in the same step. Answers {@link Reply.Released}, or {@link
     * Reply.Absent} if the store has no such grant. Needs no live session.
     *
     * @param isAnnotated whether an {@link Annotate} of the grant was sent, so that a store which keeps annotations
     *     apart deletes this one
     */
    record Release(ClaimRef claim, boolean isAnnotated) implements OnClaim {
        /** The release of a grant that was never annotated. */
        public Release(ClaimRef claim) {
            this(claim, false);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.release(this);
        }
    }

    /**
     * Reserves a new token block for a grant that continues. Never releases the grant, so it is safe while local holds
     * are live. Acts only if the grant's block still ends at {@code blockEnd}; otherwise it answers the current block.
     * Answers {@link Reply.Advanced}, {@link Reply.Absent} or {@link Reply.Unsupported}, the last also if the counter
     * has no more tokens.
     *
     * @param tokens how many tokens are requested, 1 to {@link TokenBlock#MAX_SIZE}
     * @param atLeast the new block starts above this, or 0
     */
    record Advance(ClaimRef claim, long blockEnd, int tokens, long atLeast) implements OnClaim {
        /**
         * Checks the number of tokens.
         *
         * @throws IllegalArgumentException if it is out of range
         */
        public Advance {
            checkTokens(tokens);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.advance(this);
        }
    }

    /**
     * Releases a grant and makes {@code next} in one step, all or nothing: if {@code next} is refused or stale, the
     * grant stays. Sent only while no local hold is live under the grant. A repetition that finds no grant answers the
     * current state of {@code next}, and makes it if it does not exist. Answers as {@link Acquire} does. Settled by
     * repeating it, or by withdrawing {@code next} <em>and</em> releasing the grant.
     *
     * @param next the claim that is queued at the tail, on the same resource and of the same session; it may wait,
     *     and carries the epoch
     * @param isAnnotated as for {@link Release}
     */
    record Yield(ClaimRef claim, Acquire next, boolean isAnnotated) implements Claiming {
        /** For a grant that was never annotated. */
        public Yield(ClaimRef claim, Acquire next) {
            this(claim, next, false);
        }

        /**
         * Checks that both are of one resource and session, and that the second waits.
         *
         * @throws IllegalArgumentException if they are not, or are the same claim, or the second is a try
         */
        public Yield {
            ClaimRef other = next.claim();
            if (!claim.resource().equals(other.resource())
                    || !claim.session().equals(other.session())
                    || claim.claim() == other.claim()
                    || next.waiting() != Waiting.QUEUE) {
                throw new IllegalArgumentException("Can't yield " + claim + " for " + other + ", " + next.waiting());
            }
        }

        @Override
        public Acquire request() {
            return next;
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.yieldFor(this);
        }
    }

    /**
     * Lowers the weight of a grant to the given one, if it is higher: a write hold becomes a read hold, or some
     * permits are released. Answers {@link Reply.Done} or {@link Reply.Absent}.
     *
     * @param weight the remaining weight, at least 1
     */
    record ShrinkTo(ClaimRef claim, int weight) implements OnClaim {
        /**
         * Checks the weight.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        public ShrinkTo {
            checkLeast("The remaining weight of a grant", weight, 1);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.shrinkTo(this);
        }
    }

    /**
     * Sets the remaining lease of a live bounded or detached grant; may shorten it. Acts only if {@code seq} is greater
     * than the last one that acted; otherwise it only returns the remaining time. Answers {@link Reply.Extended}
     * or {@link Reply.Absent}.
     *
     * @param seq increases with each extension of one grant, from 1
     */
    record Extend(ClaimRef claim, long seq, Duration lease) implements OnClaim {
        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if the sequence number is not positive, or the lease is not positive
         *     or beyond {@link #MAX_DURATION}
         */
        public Extend {
            checkLeast("A sequence number", seq, 1);
            checkDuration("A lease", lease);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.extend(this);
        }
    }

    /**
     * Replaces the annotation of a grant: a text for people and for other clients, which {@link ResourceInfo.Party} of
     * an inspection has. Acts only if {@code seq} is greater than the last one that acted on this grant. Answers {@link
     * Reply.Done}, also if it did not act; {@link Reply.Absent} if the store has no such grant; or {@link
     * Reply.Unsupported} without the feature {@link StoreTraits.Feature#ANNOTATIONS}. Sent only through the store that
     * opened the session.
     *
     * <p>An annotation ends with its grant, and does not pass to the next claim of a {@link Yield}. That of a detached
     * grant may end with the session. A store may drop one that was not replaced for an hour.
     *
     * @param seq increases with each annotation of one grant, from 1
     * @param text at most {@link #MAX_TEXT_BYTES} bytes of UTF-8, without U+0000; empty for none
     */
    record Annotate(ClaimRef claim, long seq, String text) implements OnClaim {
        /** The longest text, in bytes of UTF-8. */
        public static final int MAX_TEXT_BYTES = 2_048;

        /**
         * Checks the number and the text.
         *
         * @throws IllegalArgumentException if the sequence number is not positive, or the text is too long or contains
         *     U+0000 or an unpaired surrogate
         */
        public Annotate {
            checkLeast("A sequence number", seq, 1);
            checkText("An annotation", text, MAX_TEXT_BYTES);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.annotate(this);
        }
    }

    /**
     * Sets the count of a latch that is not counting, and begins a generation. Answers {@link Reply.Count}, with the
     * current count if it was set already or if the generation is not after the current one; or {@link Reply.Refused}
     * if the name is in use as something else. A latch that counts is in use until it is open.
     *
     * @param session the session whose epoch is checked
     * @param generation the new generation, from 1: greater than the last that the caller knows, and preferably one
     *     that no other caller would choose, so that the reply shows whether this command set the count
     * @param count at least 1
     */
    record SetCount(ResourceName resource, SessionId session, long epoch, long generation, long count)
            implements OnResource {
        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if generation or count is not positive
         */
        public SetCount {
            checkLeast("A generation", generation, 1);
            checkLeast("The count of a latch", count, 1);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.setCount(this);
        }
    }

    /**
     * Lowers the count of a latch, not below zero, once per id; at zero every waiting pass claim is admitted. Answers
     * {@link Reply.Count}, or {@link Reply.Refused} if the name is in use as something else. Without effect for a
     * generation other than the current one; so one of generation 0, which no latch has, only reads the state.
     *
     * @param id makes it idempotent, 1 to 64 printable ASCII characters
     * @param n at least 1
     */
    record CountDown(ResourceName resource, long generation, String id, long n) implements OnResource {
        /**
         * Checks the id and the number.
         *
         * @throws IllegalArgumentException if {@code n} is not positive, or the id is empty, too long or holds
         *     anything but printable ASCII
         */
        public CountDown {
            checkLeast("The number to count down", n, 1);
            if (id.isEmpty() || id.length() > 64 || !id.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
                throw new IllegalArgumentException("The id of a count-down must be 1 to 64 printable ASCII characters");
            }
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.countDown(this);
        }
    }

    /**
     * Changes the current capacity of a semaphore, and ends waiting claims that no longer fit: polled, they are {@link
     * Reply.Absent} or {@link Reply.Refused}. Grants stay. Answers {@link Reply.Done}; {@link Reply.Absent} if the
     * semaphore is not in use, since the next claim then declares the capacity; or {@link Reply.Refused} if it is not a
     * semaphore.
     *
     * @param capacity at least 1
     */
    record Resize(ResourceName resource, SessionId session, long epoch, int capacity) implements OnResource {
        /**
         * Checks the capacity.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        public Resize {
            checkLeast("A capacity", capacity, 1);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.resize(this);
        }
    }

    /**
     * Lists the resources in use (held, waited for, or a latch that counts), for people: {@link Reply.Inspected}.
     * Changes nothing. A store may return fewer in one page than requested, so as not to delay others; the cursor leads
     * to the rest. A record that can't be read only fails an inspection of its name alone; in a page of several it is
     * listed as damaged.
     *
     * @param prefix the common prefix of the names, or the name; empty for all
     * @param cursor the end of the page before, empty for the first
     * @param limit the most resources in a page, or, of a single name, the number of holders after which the store may
     *     end a page; at least 1
     * @param scope whether the resource of exactly that name is inspected
     */
    record Inspect(String prefix, Optional<String> cursor, int limit, Scope scope) implements Command {
        /** The resources that are inspected. */
        public enum Scope {
            /**
             * All whose name has the prefix. Of each, holders after a number that the store chooses may be left out.
             */
            PREFIX,
            /** As {@link #PREFIX}, but only those with waiters. A page may be empty although others follow. */
            WAITED,
            /**
             * The one whose name is the prefix, with all of its holders, page by page; waiters are only in the first
             * page. Each page has the number of holders and their total weight at its time. If two pages have the same
             * last token, no holder was added between them; if the number of holders in the last page equals that of
             * all listed holders, the list is complete.
             */
            NAME
        }

        /**
         * Checks the limit.
         *
         * @throws IllegalArgumentException if it is not positive
         */
        public Inspect {
            checkLeast("The size of a page", limit, 1);
        }

        /** Inspects all whose name has the prefix. */
        public Inspect(String prefix, Optional<String> cursor, int limit) {
            this(prefix, cursor, limit, Scope.PREFIX);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.inspect(this);
        }
    }

    /**
     * Ends the grant whose newest block contains a token, of any session, and notifies that session. A token identifies
     * the grant: blocks of one resource never overlap. Answers {@link Reply.Released} or {@link Reply.Absent}. The next
     * grant has a greater token.
     */
    record ForceRelease(ResourceName resource, long token) implements OnResource {
        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.forceRelease(this);
        }
    }

    /**
     * Adds a run of a scheduled task to the history of its name, or replaces the one with the same token. The store
     * keeps the runs with the {@value #KEPT} greatest tokens, whether the name is in use or not; it may drop those of
     * more than a year ago. Needs no session. Answers {@link Reply.Done}, or {@link Reply.Unsupported} without the
     * feature {@link StoreTraits.Feature#RUNS}.
     *
     * @param token the fencing token of the run
     * @param run a text that the store does not read: at most {@link #MAX_RUN_BYTES} bytes of UTF-8
     */
    record RecordRun(ResourceName resource, long token, String run) implements OnResource {
        /** The longest text, in bytes of UTF-8. */
        public static final int MAX_RUN_BYTES = 1_024;

        /** How many runs of a name a store keeps. */
        public static final int KEPT = 10;

        /**
         * Checks the token and the text.
         *
         * @throws IllegalArgumentException if the token is not positive, or the text is too long or contains U+0000 or
         *     an unpaired surrogate
         */
        public RecordRun {
            checkLeast("A token", token, 1);
            checkText("The record of a run", run, MAX_RUN_BYTES);
        }

        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.recordRun(this);
        }
    }

    /** Reads the history of a name. Answers as {@link RecordRun}, but with {@link Reply.Runs}; changes nothing. */
    record ListRuns(ResourceName resource) implements OnResource {
        @Override
        public <R extends @Nullable Object, X extends Exception> R accept(CommandHandler<R, X> handler) throws X {
            return handler.listRuns(this);
        }
    }

    private static void checkText(String what, String text, int most) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length > most) {
            throw new IllegalArgumentException(
                    what + " may have at most " + most + " bytes of UTF-8, not " + utf8.length);
        }
        if (text.indexOf(0) >= 0 || !new String(utf8, StandardCharsets.UTF_8).equals(text)) {
            throw new IllegalArgumentException(what + " must not contain U+0000 or unpaired surrogates");
        }
    }

    private static void checkLeast(String what, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException(what + " must be at least " + least + ", but was " + value);
        }
    }

    private static void checkDuration(String what, Duration duration) {
        if (duration.isNegative() || duration.isZero() || duration.compareTo(MAX_DURATION) > 0) {
            throw new IllegalArgumentException(
                    what + " must be longer than zero and at most " + MAX_DURATION + ", but was " + duration);
        }
    }

    private static void checkTokens(int tokens) {
        if (tokens < 1 || tokens > TokenBlock.MAX_SIZE) {
            throw new IllegalArgumentException(
                    "A block must have 1 to " + TokenBlock.MAX_SIZE + " tokens, not " + tokens);
        }
    }
}
