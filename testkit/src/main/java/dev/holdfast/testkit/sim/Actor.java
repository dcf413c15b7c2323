package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.testkit.sim.AcquireIntent.Part;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One logical thread of a program: it requests resources in various ways, {@linkplain HoldScenario works} with its
 * holds, and requests again. In the end it makes one plain request, which must be granted.
 */
final class Actor implements Participant {

    private static final long MILLI = 1_000_000;
    private static final long SHORTEST_LEASE = 200 * MILLI;

    /** How much longer a wait may last than it should, after the store time-out. */
    private static final long OVERTIME = 1_000 * MILLI;

    /** By how many a resize may exceed the declared permits. */
    static final int MOST_MORE = 2;

    private static final int ROUNDS_IN_THE_RUSH = 45;

    private final Run run;
    private final SimClient client;
    private final SeededRandom random;
    private final String name;
    private int operations;
    private int rounds;
    private boolean isBusy;
    private boolean isFinished;

    Actor(Run run, SimClient client, SeededRandom random, String name) {
        this.run = run;
        this.client = client;
        this.random = random;
        this.name = name;
        this.operations = run.plan.operations;
    }

    @Override
    public boolean isFinished() {
        return isFinished || client.process().isDead();
    }

    @Override
    public String toString() {
        return name;
    }

    // ---- What to do next

    @Override
    public void begin() {
        if (!isBusy && !isFinished) {
            isBusy = true;
            think();
        }
    }

    /** Requests without a break, while every process is healthy. */
    void beginStarvationCheck() {
        rounds = ROUNDS_IN_THE_RUSH;
        isFinished = false;
        isBusy = true;
        think();
    }

    void think() {
        client.process().after(random.between(0, Math.min(run.plan.thinkMax, run.longestThought())), this::act);
    }

    /** Continues after a release. */
    void continueAfter(AcquireIntent intent) {
        boolean isServed = run.isDraining() && intent.options.maxWait().isEmpty() && --rounds <= 0;
        if (isServed) {
            isFinished = true;
        } else {
            think();
        }
    }

    private void act() {
        if (!client.isOpen()) {
            // A client that reopens starts its actors again.
            isBusy = false;
        } else if (run.isDraining()) {
            ask(intent(AcquireOptions.defaults()), false);
        } else if (operations-- > 0) {
            if (random.chance(run.plan.resizes)) {
                resize();
            }
            ask(intent(options()), random.chance(run.plan.cancels));
        } else {
            isBusy = false;
        }
    }

    private AcquireOptions options() {
        Plan plan = run.plan;
        AcquireOptions options = AcquireOptions.defaults();
        if (random.chance(plan.tries)) {
            options = options.withMaxWait(Duration.ZERO);
        } else if (random.chance(plan.maxWaits)) {
            options = options.withMaxWait(Duration.ofNanos(random.heavyTail(MILLI, 2 * plan.ttl)));
        }
        Duration lease = Duration.ofNanos(random.between(SHORTEST_LEASE, plan.leaseMax));
        if (random.chance(plan.fixedLeases)) {
            return random.chance(plan.detached) ? options.withDetachedLease(lease) : options.withFixedLease(lease);
        }
        return random.chance(plan.maxHolds) ? options.withMaxHold(lease) : options;
    }

    private AcquireIntent intent(AcquireOptions options) {
        List<SimResource> resources = run.plan.resources;
        List<Part> parts = new ArrayList<>();
        if (random.chance(run.plan.multis)) {
            resources.forEach(resource -> parts.add(part(resource)));
        } else {
            parts.add(part(random.oneOf(resources)));
        }
        return new AcquireIntent(parts, options, run.world.now(), localNow());
    }

    private Part part(SimResource resource) {
        int weight = resource.capacity();
        if (resource.isReadWrite()) {
            weight = random.chance(run.plan.writes) ? weight : 1;
        } else if (resource.isSemaphore() && !random.chance(run.plan.heavies)) {
            weight = (int) random.between(1, Math.max(1, weight / 2));
        }
        return new Part(resource, weight, run.holdOracle.tokens().greatestInTheWay(resource, weight));
    }

    private void resize() {
        SimResource resource = random.oneOf(run.plan.resources);
        if (resource.isSemaphore()) {
            resize(resource, (int) random.between(1, resource.capacity() + MOST_MORE), this::ignored);
        }
    }

    private void resize(SimResource resource, int permits, Runnable then) {
        run.say(name + " resizes " + resource.name() + " to " + permits);
        client.subject().resize(resource.name(), permits).whenComplete((isInUse, failure) -> {
            Throwable cause = causeOf(failure);
            if (cause != null
                    && !(cause instanceof StoreUnavailableException)
                    && !(cause instanceof ClientClosedException)) {
                run.world.fail(
                        Rule.THREE_OUTCOMES, name + "'s resizing ended for no reason that it could have: " + cause);
            }
            then.run();
        });
    }

    private void ignored() {}

    // ---- Asking

    private void ask(AcquireIntent intent, boolean isToBeCancelled) {
        run.say(name + " asks for " + intent);
        intent.parts.forEach(part -> client.startsWaiting(part.resource().name()));
        run.starvationCheck().startsWaiting(intent);
        SimClient.Asked asked;
        try {
            asked = client.acquire(intent.parts, intent.options);
        } catch (ClientClosedException closed) {
            ended(intent, null, closed);
            return;
        }
        asked.holds().whenComplete((holds, failure) -> ended(intent, holds, failure));
        checkWaitEnds(intent);
        if (isToBeCancelled && !intent.isDone) {
            client.process().after(random.heavyTail(10_000, run.plan.ttl), () -> cancel(intent, asked));
        }
    }

    /** Fails the run if a wait outlasts its limit by more than one command to the store. */
    private void checkWaitEnds(AcquireIntent intent) {
        if (intent.isDone || intent.options.maxWait().isEmpty()) {
            return;
        }
        long since = run.world.now();
        long wait = client.process()
                .clock()
                .trueDuration(intent.options.maxWait().get().toNanos());
        // A command under way has the whole store time-out, whatever is left of the wait.
        long more = Math.max(0, 2 * run.plan.storeTimeout - wait);
        if (intent.parts.size() > 1) {
            // The parts it has are released first, and fixed leases are extended to a common end.
            more = intent.parts.size() * (3 * run.plan.storeTimeout + 2_000 * MILLI);
        }
        // A command for each part may be under way when the wait ends.
        long overtime = client.process().clock().trueDuration(intent.parts.size() * OVERTIME);
        long within = wait + more + overtime + run.plan.toldWithin();
        run.world.after(within, () -> {
            boolean hasRun = client.process().isRunning() && client.process().runningSince() < since;
            if (!intent.isDone && hasRun) {
                run.world.fail(
                        Rule.EVERYTHING_ENDS,
                        name + "'s request for " + intent + " has not ended within " + within / 1_000_000 + " ms");
            }
        });
    }

    private void cancel(AcquireIntent intent, SimClient.Asked asked) {
        if (!intent.isDone) {
            run.say(name + " cancels");
            run.coverage.hit(CoveragePoint.CANCELLED);
            intent.isCancelled = true;
            if (!asked.cancel().getAsBoolean()) {
                run.world.fail(Rule.GIVEN_UP, name + " could not cancel a request that had not ended");
            }
        }
    }

    private void ended(AcquireIntent intent, @Nullable List<Hold> holds, @Nullable Throwable failure) {
        if (intent.isDone) {
            run.world.fail(Rule.THREE_OUTCOMES, name + "'s request ended twice");
        }
        intent.isDone = true;
        run.starvationCheck().stopsWaiting(intent, holds != null);
        intent.parts.forEach(part -> client.stopsWaiting(part.resource().name()));
        if (holds != null) {
            if (intent.isCancelled) {
                run.world.fail(Rule.GIVEN_UP, name + " is granted what it had cancelled");
            }
            new HoldScenario(run, client, random, this, intent, holds).begin();
            return;
        }
        Throwable cause = causeOf(failure);
        refused(intent, cause);
        if (!run.isDraining()) {
            think();
        } else if (cause instanceof LockMismatchException) {
            // An actor has reduced the permits below what this one requests.
            Part part = intent.parts.get(0);
            resize(part.resource(), part.resource().capacity(), this::thinkOfAnother);
        } else {
            thinkOfAnother();
        }
    }

    private void thinkOfAnother() {
        client.process().after(50 * MILLI, this::act);
    }

    private void refused(AcquireIntent intent, @Nullable Throwable failure) {
        run.say(name + " is not served: " + failure);
        String wrong = "";
        if (failure instanceof LockWaitTimeoutException) {
            if (intent.isTry()) {
                run.coverage.hit(CoveragePoint.TRY_REFUSED);
            } else if (intent.options.maxWait().isEmpty()) {
                wrong = "though it would wait for ever";
            } else if (localNow() - intent.askedAtLocally
                    < intent.options.maxWait().get().toNanos()) {
                wrong = "though its time was not over";
            } else {
                run.coverage.hit(CoveragePoint.TIMED_OUT);
            }
        } else if (failure instanceof StoreUnavailableException) {
            run.coverage.hit(CoveragePoint.STORE_UNAVAILABLE);
            boolean wasTooShort = intent.options.maxWait().isPresent()
                    && intent.options.maxWait().get().toNanos() < 100 * MILLI;
            boolean isUndisturbed = intent.parts.stream()
                    .allMatch(part -> run.isUndisturbed(part.resource().name()));
            wrong = isUndisturbed && !wasTooShort ? "though nothing was disturbed" : "";
        } else if (failure instanceof ClientClosedException) {
            run.coverage.hit(CoveragePoint.CLOSED_WHILE_WAITING);
            wrong = client.isClosing() ? "" : "though its client was not closed";
        } else if (failure instanceof LockMismatchException) {
            run.coverage.hit(CoveragePoint.TOO_HEAVY);
            wrong = run.storeOracle.wasEverTooHeavy(intent.parts) ? "" : "though there were always as many permits";
        } else if (!(failure instanceof CancellationException) || !intent.isCancelled) {
            wrong = "for no reason that it could have";
        }
        if (!wrong.isEmpty()) {
            run.world.fail(
                    Rule.THREE_OUTCOMES, name + "'s request for " + intent + " was refused " + wrong + ": " + failure);
        }
    }

    static @Nullable Throwable causeOf(@Nullable Throwable failure) {
        return failure == null ? null : Stages.causeOf(failure);
    }

    private long localNow() {
        return client.process().clock().monotonic(run.world.now());
    }
}
