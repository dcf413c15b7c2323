package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One process with a client on a register, and a few who use it. */
final class RegisterClient {

    private static final long MILLI = 1_000_000;

    static final String MUTEX = "mutex";
    static final String BOTH = "both";

    private final RegisterRun run;
    final SimProcess process;
    private final SimEnvironment environment;
    private final SeededRandom random;
    private @Nullable ClientUnderTest subject;

    /** How many have not been served yet in the calm. */
    int unserved;

    static final int NOT_WAITING = -1;

    /** How many turns of all there had been in the rush when this client began to wait. */
    int turnsBefore = NOT_WAITING;

    RegisterClient(RegisterRun run, SimProcess process, SimEnvironment environment, SeededRandom random) {
        this.run = run;
        this.process = process;
        this.environment = environment;
        this.random = random;
    }

    void open() {
        Plan plan = run.plan;
        ClientUnderTest.Settings settings = new ClientUnderTest.Settings(
                Duration.ofNanos(plan.ttl),
                Duration.ofNanos(plan.cohortBudget),
                Duration.ofNanos(plan.storeTimeout),
                process.name());
        run.starter
                .start(run.store(process, environment, random.fork()), environment, settings)
                .whenComplete((started, failure) -> {
                    if (failure != null) {
                        process.after(50 * MILLI, this::open);
                        return;
                    }
                    subject = started;
                    for (int i = 0; i < plan.threads; i++) {
                        think();
                    }
                });
    }

    /** Starts the final phase: each must be served once more. */
    void calm() {
        if (!process.isDead()) {
            unserved = run.plan.threads;
            for (int i = 0; i < run.plan.threads; i++) {
                askAtLast();
            }
        }
    }

    private DistributedLock lock(String resource, boolean writes) {
        ClientUnderTest open = Objects.requireNonNull(subject);
        if (resource.equals(MUTEX)) {
            return open.lock(resource, LockOptions.fair());
        }
        var both = open.readWriteLock(resource, LockOptions.fair());
        return writes ? both.writeLock() : both.readLock();
    }

    private void think() {
        process.after(random.between(0, Math.max(MILLI, run.plan.thinkMax)), this::ask);
    }

    private void ask() {
        if (run.isCalm) {
            return;
        }
        String resource = random.chance(0.7) ? MUTEX : BOTH;
        boolean writes = resource.equals(MUTEX) || random.chance(0.4);
        AcquireOptions options = AcquireOptions.defaults();
        if (random.chance(0.3)) {
            options = options.withMaxWait(Duration.ZERO);
        } else if (random.chance(0.4)) {
            options = options.withMaxWait(Duration.ofNanos(random.heavyTail(MILLI, 2 * run.plan.ttl)));
        }
        long lease = 0;
        if (random.chance(run.answersLate ? 0.6 : 0.2)) {
            lease = random.between(200 * MILLI, run.plan.ttl);
            options = options.withFixedLease(Duration.ofNanos(lease));
        }
        long use = run.answersLate && lease > 0 ? lease : random.heavyTail(10_000, Math.max(20_000, run.plan.holdMax));
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
                use(resource, hold, writes, use, this::think);
            }
        });
    }

    private void askAtLast() {
        if (subject == null) {
            process.after(50 * MILLI, this::askAtLast);
            return;
        }
        lock(MUTEX, true).acquireAsync(AcquireOptions.defaults()).whenComplete((hold, failure) -> {
            if (hold == null) {
                process.after(50 * MILLI, this::askAtLast);
            } else {
                long use = random.heavyTail(10_000, Math.max(20_000, run.plan.holdMax));
                use(MUTEX, hold, true, use, () -> unserved--);
            }
        });
    }

    /** Requests repeatedly, as long as all do. */
    void starvationCheck() {
        if (!run.isRushed || subject == null) {
            return;
        }
        turnsBefore = turnsBefore == NOT_WAITING ? run.turns : turnsBefore;
        lock(MUTEX, true).acquireAsync(AcquireOptions.defaults()).whenComplete((hold, failure) -> {
            if (hold == null) {
                process.after(MILLI, this::starvationCheck);
            } else {
                if (run.isRushed) {
                    run.served(this);
                }
                run.holdOracle.begins(process, MUTEX, hold, true);
                process.after(random.between(10_000, MILLI), () -> {
                    run.holdOracle.ends(MUTEX, hold);
                    hold.releaseAsync().whenComplete((done, failed) -> starvationCheck());
                });
            }
        });
    }

    private void use(String resource, Hold hold, boolean writes, long nanos, Runnable then) {
        run.holdOracle.begins(process, resource, hold, writes);
        hold.onLost(run::lost);
        process.after(nanos, () -> {
            run.holdOracle.ends(resource, hold);
            var unused = hold.releaseAsync();
            then.run();
        });
    }
}
