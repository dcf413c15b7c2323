package dev.holdfast.store.quorum;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.Environment;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.StoreUri;
import dev.holdfast.spi.support.DurationFormat;
import dev.holdfast.spi.support.SystemTime;
import dev.holdfast.store.quorum.member.Member;
import dev.holdfast.store.quorum.member.MemberOpening;
import dev.holdfast.store.quorum.member.NamedStore;
import dev.holdfast.store.quorum.member.QuorumTraits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store on an odd number of independent stores of any kind: what a majority of all members has granted is granted, so
 * locks survive a minority that is dead, slow or has lost its data.
 *
 * <pre>{@code
 * try (QuorumStore store = QuorumStore.builder()
 *         .member("redis://a.example")
 *         .member("redis://b.example")
 *         .member("postgresql://c.example/locks")
 *         .open()) {
 *     Holdfast holdfast = Holdfast.builder(store).build();
 * }
 * }</pre>
 *
 * <p>This is not consensus. It rests on leases, so on clocks that run at about the same rate, on members that fail
 * independently and don't copy each other's data, and on members that either write through to the disk or stay down for
 * the {@linkplain Builder#longestLease longest lease} after a crash. A member that comes back empty is detected and
 * kept out for that time; then it regains what a majority has kept. Fencing tokens increase with every grant, whichever
 * majority makes it.
 *
 * <p>It admits exclusive and shared claims; counts of several members don't add up, so there are no semaphores and no
 * latches. Waiting has no order: waiters retry at random times.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class QuorumStore implements LockStore {

    private final Quorum quorum;
    private final Repairs repairs;
    private final StoreTraits traits;
    private final List<LockStore> opened;
    private final @Nullable SystemTime time;
    private final Map<Long, CompletableFuture<?>> underWay = new ConcurrentHashMap<>();
    private final AtomicLong numbers = new AtomicLong();
    private volatile boolean isClosed;

    private QuorumStore(Builder builder, List<NamedStore> members, List<LockStore> opened) {
        Environment given = builder.environment;
        this.time = given == null ? new SystemTime("holdfast-quorum-timer") : null;
        Environment environment = given == null ? java.util.Objects.requireNonNull(time) : given;
        this.quorum = new Quorum(environment, builder.rules, builder.answerWithin, builder.longestLease);
        this.repairs = new Repairs(quorum);
        this.opened = List.copyOf(opened);
        for (NamedStore member : members) {
            quorum.members.add(new Member(
                    quorum.loop, quorum.memberTimeoutNanos, quorum.members.size(), member.store(), member.name()));
        }
        quorum.markers.members(members.size());
        this.traits = QuorumTraits.of(members.stream().map(NamedStore::store).toList());
        quorum.minTtl = traits.minSessionTtl();
        quorum.granularity = traits.ttlGranularity();
        for (Member member : quorum.members) {
            member.store.subscribe(signal -> quorum.loop.post(() -> handle(member, signal)));
        }
    }

    /** Starts to configure a quorum. */
    public static Builder builder() {
        return new Builder();
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public CompletionStage<Reply> execute(Command command, CallerMode caller) {
        CompletableFuture<Reply> future = new CompletableFuture<>();
        if (isClosed) {
            future.completeExceptionally(closed(Effect.NONE));
            return future;
        }
        failOnClose(future);
        quorum.loop.post(() -> {
            try {
                CommandExecution.start(quorum, repairs, command, future);
            } catch (RuntimeException e) {
                future.completeExceptionally(new StoreException(
                        Reason.CORRUPT,
                        Effect.UNKNOWN,
                        "the quorum failed to execute " + command.getClass().getSimpleName(),
                        e));
            }
        });
        if (isClosed) {
            future.completeExceptionally(closed(Effect.UNKNOWN));
        }
        return future;
    }

    private void failOnClose(CompletableFuture<?> future) {
        Long number = numbers.incrementAndGet();
        underWay.put(number, future);
        var unused = future.whenComplete((reply, failure) -> underWay.remove(number));
    }

    private static StoreException closed(Effect effect) {
        return Quorum.failed(Reason.CLOSED, effect, "the quorum was closed");
    }

    @Override
    public Subscription subscribe(Consumer<Signal> listener) {
        return quorum.listeners.add(listener);
    }

    /**
     * Reports the status of the members, in the order in which they were named. Asks each for all its holds.
     *
     * <p>A member that was away has regained everything when it {@linkplain MemberStatus#isComplete() is complete}.
     * Until then it counts as away: if a majority is away or incomplete, holds may be lost.
     *
     * @return completes when all members have answered or timed out; exceptionally if the store is closed
     */
    public CompletionStage<List<MemberStatus>> members() {
        CompletableFuture<List<MemberStatus>> future = new CompletableFuture<>();
        failOnClose(future);
        quorum.loop.post(() -> QuorumInspection.members(quorum, future));
        if (isClosed) {
            future.completeExceptionally(closed(Effect.NONE));
        }
        return future;
    }

    /** Polls a claim after a member revoked its hold. */
    private void handle(Member member, Signal signal) {
        if (signal instanceof Signal.Revoked revoked) {
            for (QuorumSession session : quorum.sessions.values()) {
                for (QuorumClaim claim : session.claims.values()) {
                    boolean isAffected = claim.state == QuorumClaim.State.HELD
                            && claim.holds.stream()
                                    .anyMatch(hold -> hold.member() == member && hold.ref.equals(revoked.claim()));
                    if (isAffected) {
                        var unused = ClaimPoll.at(quorum, claim, quorum.loop.now());
                        return;
                    }
                }
            }
        }
    }

    /** Closes the members that this store has opened, but not those that were passed to it. */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        quorum.loop.post(() -> quorum.loop.close());
        underWay.values().forEach(future -> future.completeExceptionally(closed(Effect.UNKNOWN)));
        if (time != null) {
            time.close();
        }
        opened.forEach(LockStore::close);
    }

    /** Configures a quorum. Each setting is given at most once. */
    public static final class Builder {

        private static final int MIN_MEMBERS = 3;
        private static final int MAX_MEMBERS = 9;

        private final List<Object> members = new ArrayList<>();
        private Duration answerWithin = Duration.ofSeconds(1);
        private Duration longestLease = Duration.ofMinutes(1);
        private QuorumRules rules = new QuorumRules();
        private @Nullable Environment environment;

        private Builder() {}

        /**
         * Adds a member by its URI. The quorum opens and closes it; if it can't be reached, opening it is retried for
         * as long as a majority can be reached.
         */
        @CanIgnoreReturnValue
        public Builder member(String uri) {
            members.add(StoreUri.parse(uri));
            return this;
        }

        /** Adds a member that the program opens and closes; nothing else may use this object. */
        @CanIgnoreReturnValue
        public Builder member(LockStore store) {
            members.add(store);
            return this;
        }

        /**
         * How long a member may take to answer a command before it counts as silent for that command; one second by
         * default. A silent minority delays nothing. Must be shorter than the clients' store time-out. A keep-alive
         * must be answered within a quarter of the session's ttl, if that is shorter.
         */
        @CanIgnoreReturnValue
        public Builder answerWithin(Duration time) {
            answerWithin = positive("answerWithin", time);
            return this;
        }

        /**
         * The longest session ttl and the longest detached lease; one minute by default. A member that has lost its
         * data is kept out for a tenth longer than this, and longer sessions and leases are refused. Must be the same
         * for all clients: the members record it, and clients with another value are refused.
         */
        @CanIgnoreReturnValue
        public Builder longestLease(Duration lease) {
            longestLease = positive("longestLease", lease);
            return this;
        }

        /** The source of time and randomness; by default that of the system. For tests. */
        @CanIgnoreReturnValue
        public Builder environment(Environment time) {
            environment = time;
            return this;
        }

        /** For tests that break a rule and check that this is detected. */
        @CanIgnoreReturnValue
        Builder rules(QuorumRules others) {
            rules = others;
            return this;
        }

        private static Duration positive(String what, Duration duration) {
            if (duration.isNegative() || duration.isZero() || duration.compareTo(Command.MAX_DURATION) > 0) {
                throw new IllegalArgumentException(what + " must be longer than zero and at most "
                        + DurationFormat.format(Command.MAX_DURATION) + ", but was " + DurationFormat.format(duration));
            }
            return duration;
        }

        /**
         * Opens the quorum.
         *
         * <p><b>Blocking:</b> the members named by URIs are opened at the same time; this takes as long as the slowest.
         *
         * @throws IllegalArgumentException if there are fewer than three members, more than nine or an even number, two
         *     of them are the same, or one can't be part of a quorum
         * @throws StoreException if fewer than a majority can be opened
         */
        public QuorumStore open() {
            check();
            List<LockStore> opened = new ArrayList<>();
            try {
                return new QuorumStore(this, MemberOpening.open(members, opened), opened);
            } catch (RuntimeException e) {
                opened.forEach(LockStore::close);
                throw e;
            }
        }

        private void check() {
            int count = members.size();
            if (count < MIN_MEMBERS || count > MAX_MEMBERS || count % 2 == 0) {
                throw new IllegalArgumentException("A quorum must have 3, 5, 7 or 9 members, but " + count
                        + " were named. An even number tolerates no more failures than one member less, and "
                        + "costs more.");
            }
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < i; j++) {
                    if (members.get(i).equals(members.get(j))) {
                        throw new IllegalArgumentException(
                                "The members of a quorum must be independent stores, but one is named twice: "
                                        + (members.get(i) instanceof StoreUri uri ? uri : "no. " + (i + 1)));
                    }
                }
            }
        }
    }
}
