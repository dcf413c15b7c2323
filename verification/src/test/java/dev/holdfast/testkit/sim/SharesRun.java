package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.Environment;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.StoreTraits;
import dev.holdfast.spi.support.Listeners;
import dev.holdfast.store.memory.ReferenceMachine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One run of one seed: healthy processes request one lock without a break, for holds of equal length. Their turns at
 * the lock are counted by holds and by time. In half of the runs one process is on a busy machine, where a thread that
 * is woken after a while runs late.
 *
 * <p>Some runs are in strict order. In half of these, only one process requests without a break, and hands the lock
 * over in memory until one of the others comes.
 */
public final class SharesRun {

    private static final long MILLI = 1_000_000;
    private static final long EPOCH_2026 = 1_767_225_600_000_000_000L;
    private static final long BUDGET = 10 * MILLI;

    /** How often each process has its turn before its holds count: until then, the first blocks of tokens are small. */
    private static final int WARM_UP = 10;

    private static final int ROTATIONS = 20;

    /** By how much the holds of two processes may differ. */
    private static final double LARGEST_RATIO = 1.2;

    /** The part of its budget in which a process holds the lock, if it always has requests. */
    private static final double USED_BUDGET = 0.75;

    /** The lateness of timers and callbacks on a machine that is not busy. */
    private static final long JITTER = 100_000;

    /** How much longer a process may wait in the warm-up, when holders learn of no waiters and have few tokens. */
    private static final long START = 100 * MILLI;

    /** A hand-over within a process, at most. */
    private static final long HAND_OVER = 10_000;

    /** The longest pause of a process that does not request without a break. */
    private static final long LONGEST_PAUSE = 20 * MILLI;

    // The window in which a strict lock is handed over in memory: so long at least, and so long after any answer.
    private static final long SHORTEST_WINDOW = 400_000;
    private static final long SLOW_ANSWER = 100_000;

    /** A thread that ran less than this ago is not late. */
    private static final long AWAKE = 8 * MILLI;

    private final World world;
    private final SeededRandom random;
    private final SimStore store = SimStore.reference();
    private final Map<SessionId, Member> owners = new HashMap<>();
    private final List<Member> members = new ArrayList<>();

    /** How long a message takes each way. */
    private final long way;

    private final long holdTime;

    /** How late a thread of the first process may run. */
    private final long lateness;

    /** Zero in some runs: strict order. */
    private final long budget;

    /** Whether all processes but one pause between their requests. */
    private final boolean hasVisitors;

    private final StrictOrderCheck order;
    private final int processes;
    private final int threads;

    private @Nullable Member holder;
    private int turns;

    private SharesRun(long seed, Trace trace) {
        random = new SeededRandom(seed);
        world = new World(random.fork(), trace);
        processes = (int) random.between(2, 4);
        threads = (int) random.between(2, 4);
        way = random.heavyTail(50_000, 2 * MILLI);
        holdTime = random.heavyTail(50_000, 200_000);
        lateness = random.chance(0.5) ? 2 * BUDGET : 0;
        budget = random.chance(0.3) ? 0 : BUDGET;
        hasVisitors = budget == 0 && random.chance(0.5);
        // The answer that no one waits is computed half a round trip after its question was sent.
        order = new StrictOrderCheck(world, window() - way + JITTER);
    }

    /**
     * What a run came to.
     *
     * @param ratio the most holds of a process, divided by the fewest
     * @param used the smallest part of its budget that a process used
     * @param longestWait the longest wait of a process, divided by what it may be
     */
    public record Result(long hash, double ratio, double used, double longestWait) {}

    /**
     * Runs one seed.
     *
     * @throws SimulationFailure if a rule was broken
     */
    public static Result run(long seed, ClientUnderTest.Starter starter) {
        Trace trace = Trace.hashOnly();
        return new SharesRun(seed, trace).play(starter, trace);
    }

    private Result play(ClientUnderTest.Starter starter, Trace trace) {
        for (int i = 1; i <= processes; i++) {
            members.add(new Member("p" + i, i == 1 ? lateness : 0, hasVisitors && i > 1));
        }
        members.forEach(member -> member.open(starter));
        stepUntil(WARM_UP);
        members.forEach(Member::forget);
        stepUntil(WARM_UP + ROTATIONS);
        return judge(trace);
    }

    private void stepUntil(int rotations) {
        while (turns < rotations * processes) {
            world.step();
        }
    }

    private Result judge(Trace trace) {
        int most = members.stream().mapToInt(member -> member.holds).max().orElseThrow();
        int fewest = members.stream().mapToInt(member -> member.holds).min().orElseThrow();
        double ratio = (double) most / Math.max(1, fewest);
        double used = (double) fewest * holdTime / (ROTATIONS * Math.max(budget, 1));
        long longest =
                members.stream().mapToLong(member -> member.longestWait).max().orElseThrow();
        if (budget > 0 && ratio > LARGEST_RATIO) {
            fail(Rule.SHARES, "one process had " + most + " holds while another had " + fewest);
        }
        if (used < USED_BUDGET) {
            fail(Rule.SHARES, "a process used " + used + " of its budget");
        }
        // Strict order follows requests, not processes.
        return new Result(trace.hash(), budget == 0 ? 1 : ratio, Math.min(used, 1), (double) longest / mostWait());
    }

    /** How long a process may wait: the turns before it, each with two holds and a hand-over. */
    private long mostWait() {
        long trip = 2 * way;
        long inMemory = hasVisitors ? window() : 0;
        return (processes - 1) * (longestTurn() + inMemory + 2 * holdTime + trip) + trip + lateness + JITTER;
    }

    /** With strict order, how long the answer counts that no one waits. */
    private long window() {
        long trip = 2 * way;
        return Math.max(SHORTEST_WINDOW, Math.max(trip + trip / 2, trip + SLOW_ANSWER));
    }

    /** With strict order, the requests that waited when the claim was sent, of which each thread has one. */
    private long longestTurn() {
        return budget == 0 ? threads * (holdTime + HAND_OVER) : budget;
    }

    private void fail(Rule rule, String what) {
        world.fail(rule, what + "; " + this);
        world.after(0, () -> {});
        world.step();
    }

    @Override
    public String toString() {
        return String.format(
                "%d processes with %d threads, budget %d ms, holds of %d us, %d us to the store, up to %d ms late%s",
                processes,
                threads,
                budget / MILLI,
                holdTime / 1_000,
                way / 1_000,
                lateness / MILLI,
                hasVisitors ? ", with pauses" : "");
    }

    /** One process. */
    private final class Member {

        private final SimProcess process;
        private final SimEnvironment environment;
        private final long late;
        private final boolean isVisitor;
        private final Listeners listeners = new Listeners();
        private long newestArrival;
        private long newestReply;
        private long ranAt;
        private boolean isOpen;
        private int holds;
        private long longestWait;

        /** When its newest hold began or ended, or it began to wait after a pause. */
        private long releasedAt;

        /** How many requests it has made, and how many of them wait. */
        private long requests;

        private int waiting;
        private boolean isHolding;

        Member(String name, long late, boolean isVisitor) {
            SimClock clock = new SimClock(0, random.between(0, 1L << 50), EPOCH_2026, false);
            this.process = new SimProcess(world, name, clock);
            this.environment = new SimEnvironment(world, process, clock, random.fork(), 2_000);
            this.late = late;
            this.isVisitor = isVisitor;
        }

        void open(ClientUnderTest.Starter starter) {
            ClientUnderTest.Settings settings = new ClientUnderTest.Settings(
                    Duration.ofSeconds(30), Duration.ofNanos(budget), Duration.ofSeconds(5), process.name());
            starter.start(new Link(this), new Busy(this), settings).whenComplete((client, failure) -> {
                if (failure != null) {
                    world.fail(Rule.HEALTHY_KEEPS, process + " can't start: " + failure);
                    return;
                }
                isOpen = true;
                releasedAt = world.now();
                for (int i = 0; i < threads; i++) {
                    requestNext(client);
                }
            });
        }

        private void requestNext(ClientUnderTest client) {
            if (isVisitor) {
                process.after(random.between(0, LONGEST_PAUSE), () -> request(client));
            } else {
                request(client);
            }
        }

        private void request(ClientUnderTest client) {
            if (waiting == 0 && !isHolding) {
                releasedAt = world.now();
            }
            waiting++;
            long number = ++requests;
            client.lock("hot", LockOptions.fair())
                    .acquireAsync(AcquireOptions.defaults())
                    .whenComplete((hold, failure) -> {
                        if (hold == null) {
                            world.fail(Rule.EVERYTHING_ENDS, process + " was not served: " + failure);
                            return;
                        }
                        begins(number);
                        process.after(holdTime, () -> release(client, hold));
                    });
        }

        private void begins(long request) {
            if (budget == 0) {
                order.begins(process, request, late);
            }
            if (holder != this) {
                holder = this;
                turns++;
                longestWait = Math.max(longestWait, world.now() - releasedAt);
            }
            members.forEach(Member::checkWait);
            waiting--;
            isHolding = true;
            releasedAt = world.now();
            holds++;
        }

        private void checkWait() {
            long most = mostWait() + (turns < WARM_UP * processes ? START : 0);
            if (isOpen && waiting > 0 && world.now() - releasedAt > most) {
                world.fail(
                        Rule.WAIT_OF_PROCESS,
                        process + " waited for " + (world.now() - releasedAt) / 1_000 + " us, not " + most / 1_000
                                + " us at most; " + SharesRun.this);
            }
        }

        private void release(ClientUnderTest client, Hold hold) {
            releasedAt = world.now();
            isHolding = false;
            var unused = hold.releaseAsync();
            requestNext(client);
        }

        void forget() {
            holds = 0;
            longestWait = 0;
        }
    }

    /** An environment in which a thread that has not run for a while may run late. */
    private final class Busy implements Environment {
        private final Member member;

        Busy(Member member) {
            this.member = member;
        }

        @Override
        public long monotonicNanos() {
            return member.environment.monotonicNanos();
        }

        @Override
        public long bootNanos() {
            return member.environment.bootNanos();
        }

        @Override
        public long wallMillis() {
            return member.environment.wallMillis();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return member.environment.schedule(delayNanos, task);
        }

        @Override
        public Executor callbacks() {
            Executor usual = member.environment.callbacks();
            return task -> {
                boolean isLate = member.late > 0 && world.now() - member.ranAt > AWAKE;
                member.ranAt = Math.max(member.ranAt, world.now());
                if (isLate) {
                    member.ranAt = world.now() + random.between(0, member.late);
                    world.after(member.ranAt - world.now(), member.process, task);
                } else {
                    usual.execute(task);
                }
            };
        }

        @Override
        public long randomLong() {
            return member.environment.randomLong();
        }
    }

    /** The way of one process to the store, on which messages keep their order. */
    private final class Link implements LockStore {
        private final Member member;

        Link(Member member) {
            this.member = member;
        }

        @Override
        public StoreTraits traits() {
            return store.traits();
        }

        @Override
        public Subscription subscribe(Consumer<Signal> listener) {
            return member.listeners.add(listener);
        }

        @Override
        public CompletionStage<Reply> execute(Command command, CallerMode caller) {
            CompletableFuture<Reply> future = new CheckedFuture<>(world);
            order.sent(command, member.requests);
            member.newestArrival = Math.max(member.newestArrival + 1, world.now() + way);
            world.after(member.newestArrival - world.now(), () -> {
                Reply reply = arrive(command);
                back(member, () -> future.complete(reply));
            });
            return future;
        }

        private Reply arrive(Command command) {
            ReferenceMachine.Outcome outcome = store.apply(command, (EPOCH_2026 + world.now()) / 1_000);
            order.applied(command, outcome);
            if (outcome.reply() instanceof Reply.SessionOpened opened) {
                owners.put(opened.session(), member);
            }
            for (Signal signal : outcome.signals()) {
                Member owner = owners.get(SimServer.sessionOf(signal));
                if (owner != null) {
                    back(owner, () -> owner.listeners.accept(signal));
                }
            }
            return outcome.reply();
        }

        private void back(Member to, Runnable what) {
            to.newestReply = Math.max(to.newestReply + 1, world.now() + way);
            world.after(to.newestReply - world.now(), to.process, what);
        }

        @Override
        public void close() {}
    }
}
