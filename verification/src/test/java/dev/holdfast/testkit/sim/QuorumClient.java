package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One process with a client on a quorum, and a few who use it. */
final class QuorumClient {

    private static final long MILLI = 1_000_000;

    private final QuorumRun run;
    final SimProcess process;
    private final SimEnvironment environment;
    private final SeededRandom random;
    final List<SimLink> links = new ArrayList<>();
    private final boolean isKeeper;
    private final List<Kept> kept = new ArrayList<>();
    private @Nullable ClientUnderTest subject;

    /** How many have not been served yet in the calm. */
    int unserved;

    QuorumClient(QuorumRun run, SimProcess process, SimEnvironment environment, SeededRandom random, boolean isKeeper) {
        this.isKeeper = isKeeper;
        this.run = run;
        this.process = process;
        this.environment = environment;
        this.random = random;
    }

    void open() {
        links.clear();
        for (SimServer server : run.servers) {
            links.add(new SimLink(run.world, process, server, run.network, random.fork(), QuorumRun.NO_LISTENER));
        }
        Plan plan = run.plan;
        ClientUnderTest.Settings settings = new ClientUnderTest.Settings(
                Duration.ofNanos(plan.ttl),
                Duration.ofNanos(plan.cohortBudget),
                Duration.ofNanos(plan.storeTimeout),
                process.name());
        run.starter
                .start(run.quorum.of(links, environment), environment, settings)
                .whenComplete((started, failure) -> {
                    if (failure != null) {
                        process.after(50 * MILLI, this::open);
                        return;
                    }
                    subject = started;
                    if (isKeeper) {
                        keep(QuorumRun.MUTEX, true);
                        keep(QuorumRun.BOTH, false);
                        return;
                    }
                    for (int i = 0; i < run.plan.threads; i++) {
                        new User().think();
                    }
                });
    }

    /** Starts the final phase: each must be served once more. */
    void calm() {
        if (!process.isDead()) {
            releaseKept();
            unserved = run.plan.threads;
            for (int i = 0; i < run.plan.threads; i++) {
                new User().askAtLast();
            }
        }
    }

    // ---- What is held from the beginning to the end

    private record Kept(String resource, Hold hold, long token) {}

    private void keep(String resource, boolean writes) {
        if (run.isCalm) {
            return;
        }
        lock(resource, writes).acquireAsync(AcquireOptions.defaults()).whenComplete((hold, failure) -> {
            if (hold == null) {
                process.after(50 * MILLI, () -> keep(resource, writes));
            } else if (run.isCalm) {
                var unused = hold.releaseAsync();
            } else {
                run.holdOracle.begins(process, resource, hold, writes);
                kept.add(new Kept(resource, hold, hold.fencingToken()));
            }
        });
    }

    int kept() {
        return kept.size();
    }

    /** Everything is held as it was. */
    void checkKept() {
        for (Kept each : kept) {
            if (!each.hold().isHeld()) {
                run.world.fail(Rule.OUTLIVES_MEMBERS, process + " has lost " + each.resource());
            } else if (each.hold().fencingToken() != each.token()) {
                run.world.fail(Rule.OWN_TOKEN, each.resource() + " had token " + each.token());
            }
        }
    }

    /** What was lost is asked for again. */
    void keepAgain() {
        for (Kept each : List.copyOf(kept)) {
            if (!each.hold().isHeld()) {
                kept.remove(each);
                run.holdOracle.ends(each.resource(), each.hold());
                keep(each.resource(), each.resource().equals(QuorumRun.MUTEX));
            }
        }
    }

    private void releaseKept() {
        for (Kept each : kept) {
            run.holdOracle.ends(each.resource(), each.hold());
            var unused = each.hold().releaseAsync();
        }
        kept.clear();
    }

    private DistributedLock lock(String resource, boolean writes) {
        ClientUnderTest open = java.util.Objects.requireNonNull(subject);
        if (resource.equals(QuorumRun.MUTEX)) {
            return open.lock(resource, LockOptions.fair());
        }
        var both = open.readWriteLock(resource, LockOptions.fair());
        return writes ? both.writeLock() : both.readLock();
    }

    /** A thread that requests repeatedly. */
    private final class User {

        void think() {
            process.after(random.between(0, Math.max(MILLI, run.plan.thinkMax)), this::ask);
        }

        private void ask() {
            if (run.isCalm) {
                return;
            }
            boolean isMutex = random.chance(0.7) || run.areClocksFarApart;
            String resource = isMutex ? QuorumRun.MUTEX : QuorumRun.BOTH;
            boolean writes = resource.equals(QuorumRun.MUTEX) || random.chance(0.4);
            AcquireOptions options = AcquireOptions.defaults();
            if (random.chance(0.3)) {
                options = options.withMaxWait(Duration.ZERO);
            } else if (random.chance(0.4)) {
                options = options.withMaxWait(Duration.ofNanos(random.heavyTail(MILLI, 2 * run.plan.ttl)));
            }
            if (random.chance(0.2)) {
                options = options.withFixedLease(Duration.ofNanos(random.between(200 * MILLI, run.plan.ttl)));
            }
            CompletionStage<? extends Hold> asked = lock(resource, writes).acquireAsync(options);
            if (random.chance(0.15)) {
                process.after(
                        random.heavyTail(10_000, run.plan.ttl),
                        () -> asked.toCompletableFuture().cancel(false));
            }
            asked.whenComplete((hold, failure) -> {
                if (hold == null) {
                    think();
                } else {
                    use(resource, hold, writes, this::think);
                }
            });
        }

        void askAtLast() {
            if (subject == null) {
                process.after(50 * MILLI, this::askAtLast);
                return;
            }
            lock(QuorumRun.MUTEX, true).acquireAsync(AcquireOptions.defaults()).whenComplete((hold, failure) -> {
                if (hold == null) {
                    process.after(50 * MILLI, this::askAtLast);
                } else {
                    use(QuorumRun.MUTEX, hold, true, () -> unserved--);
                }
            });
        }

        private void use(String resource, Hold hold, boolean writes, Runnable then) {
            run.holdOracle.begins(process, resource, hold, writes);
            process.after(random.heavyTail(10_000, Math.max(20_000, run.plan.holdMax)), () -> {
                run.holdOracle.ends(resource, hold);
                var unused = hold.releaseAsync();
                then.run();
            });
        }
    }
}
