package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockMismatchException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.support.Stages;
import dev.holdfast.testkit.sim.Wish.Part;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * One logical thread of a program: asks for resources in one of the many ways, {@linkplain Shift works} with what it is
 * given, and asks again. In the end it asks once more, plainly, and must be served.
 */
final class Actor implements Participant {

    private static final long MILLI = 1_000_000;
    private static final long SHORTEST_LEASE = 200 * MILLI;

    /** How much longer than it may take a wait may last once the store time-out is over. */
    private static final long OVERTIME = 1_000 * MILLI;

    /** By how much more permits there may be than were declared. */
    static final int MOST_MORE = 2;

    private static final int ROUNDS_IN_THE_RUSH = 45;

    private final Run run;
    private final Client client;
    private final Dice dice;
    private final String name;
    private int operations;
    private int rounds;
    private boolean isBusy;
    private boolean isFinished;

    Actor(Run run, Client client, Dice dice, String name) {
        this.run = run;
        this.client = client;
        this.dice = dice;
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

    /** Everybody is healthy and wants something all the time. */
    void rush() {
        rounds = ROUNDS_IN_THE_RUSH;
        isFinished = false;
        isBusy = true;
        think();
    }

    void think() {
        client.process().after(dice.between(0, Math.min(run.plan.thinkMax, run.longestThought())), this::act);
    }

    /** It has let go of what it had. */
    void goOn(Wish wish) {
        boolean isServed = run.isDraining() && wish.options.maxWait().isEmpty() && --rounds <= 0;
        if (isServed) {
            isFinished = true;
        } else {
            think();
        }
    }

    private void act() {
        if (!client.isOpen()) {
            // A client that comes back begins its actors anew.
            isBusy = false;
        } else if (run.isDraining()) {
            ask(wish(AcquireOptions.defaults()), false);
        } else if (operations-- > 0) {
            if (dice.chance(run.plan.resizes)) {
                resize();
            }
            ask(wish(options()), dice.chance(run.plan.cancels));
        } else {
            isBusy = false;
        }
    }

    private AcquireOptions options() {
        Plan plan = run.plan;
        AcquireOptions options = AcquireOptions.defaults();
        if (dice.chance(plan.tries)) {
            options = options.withMaxWait(Duration.ZERO);
        } else if (dice.chance(plan.maxWaits)) {
            options = options.withMaxWait(Duration.ofNanos(dice.heavyTail(MILLI, 2 * plan.ttl)));
        }
        Duration lease = Duration.ofNanos(dice.between(SHORTEST_LEASE, plan.leaseMax));
        if (dice.chance(plan.fixedLeases)) {
            return dice.chance(plan.detached) ? options.withDetachedLease(lease) : options.withFixedLease(lease);
        }
        return dice.chance(plan.maxHolds) ? options.withMaxHold(lease) : options;
    }

    private Wish wish(AcquireOptions options) {
        List<SimResource> resources = run.plan.resources;
        List<Part> parts = new ArrayList<>();
        if (dice.chance(run.plan.multis)) {
            resources.forEach(resource -> parts.add(part(resource)));
        } else {
            parts.add(part(dice.oneOf(resources)));
        }
        return new Wish(parts, options, run.world.now(), localNow());
    }

    private Part part(SimResource resource) {
        int weight = resource.capacity();
        if (resource.isReadWrite()) {
            weight = dice.chance(run.plan.writes) ? weight : 1;
        } else if (resource.isSemaphore() && !dice.chance(run.plan.heavies)) {
            weight = (int) dice.between(1, Math.max(1, weight / 2));
        }
        return new Part(resource, weight, run.judge.tokens().greatestInTheWay(resource, weight));
    }

    private void resize() {
        SimResource resource = dice.oneOf(run.plan.resources);
        if (resource.isSemaphore()) {
            resize(resource, (int) dice.between(1, resource.capacity() + MOST_MORE), this::ignored);
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

    private void ask(Wish wish, boolean isToBeCancelled) {
        run.say(name + " asks for " + wish);
        wish.parts.forEach(part -> client.startsWaiting(part.resource().name()));
        run.rush().startsWaiting(wish);
        Client.Asked asked;
        try {
            asked = client.acquire(wish.parts, wish.options);
        } catch (ClientClosedException closed) {
            ended(wish, null, closed);
            return;
        }
        asked.holds().whenComplete((holds, failure) -> ended(wish, holds, failure));
        watchWait(wish);
        if (isToBeCancelled && !wish.isDone) {
            client.process().after(dice.heavyTail(10_000, run.plan.ttl), () -> cancel(wish, asked));
        }
    }

    /** Sees to it that a wait ends when its time is over, give or take one command to the store. */
    private void watchWait(Wish wish) {
        if (wish.isDone || wish.options.maxWait().isEmpty()) {
            return;
        }
        long since = run.world.now();
        long wait = client.process()
                .clock()
                .trueDuration(wish.options.maxWait().get().toNanos());
        // The store has its own time to answer, whatever is left of the wait.
        long more = Math.max(0, 2 * run.plan.storeTimeout - wait);
        if (wish.parts.size() > 1) {
            // What it has of the parts goes back first, and a lease of its own is made the same for all.
            more = wish.parts.size() * (3 * run.plan.storeTimeout + 2_000 * MILLI);
        }
        // Each part may wait for the answer to a request that is under way when its time is over.
        long overtime = client.process().clock().trueDuration(wish.parts.size() * OVERTIME);
        long within = wait + more + overtime + run.plan.toldWithin();
        run.world.after(within, () -> {
            boolean hasRun = client.process().isRunning() && client.process().runningSince() < since;
            if (!wish.isDone && hasRun) {
                run.world.fail(
                        Rule.EVERYTHING_ENDS,
                        name + "'s request for " + wish + " has not ended within " + within / 1_000_000 + " ms");
            }
        });
    }

    private void cancel(Wish wish, Client.Asked asked) {
        if (!wish.isDone) {
            run.say(name + " cancels");
            run.reached.hit(Reach.CANCELLED);
            wish.isCancelled = true;
            if (!asked.cancel().getAsBoolean()) {
                run.world.fail(Rule.GIVEN_UP, name + " could not cancel a request that had not ended");
            }
        }
    }

    private void ended(Wish wish, @Nullable List<Hold> holds, @Nullable Throwable failure) {
        if (wish.isDone) {
            run.world.fail(Rule.THREE_OUTCOMES, name + "'s request ended twice");
        }
        wish.isDone = true;
        run.rush().stopsWaiting(wish, holds != null);
        wish.parts.forEach(part -> client.stopsWaiting(part.resource().name()));
        if (holds != null) {
            if (wish.isCancelled) {
                run.world.fail(Rule.GIVEN_UP, name + " is granted what it had cancelled");
            }
            new Shift(run, client, dice, this, wish, holds).begin();
            return;
        }
        Throwable cause = causeOf(failure);
        refused(wish, cause);
        if (!run.isDraining()) {
            think();
        } else if (cause instanceof LockMismatchException) {
            // Somebody has taken permits away, and asks for more than there are left.
            Part part = wish.parts.get(0);
            resize(part.resource(), part.resource().capacity(), this::thinkOfAnother);
        } else {
            thinkOfAnother();
        }
    }

    private void thinkOfAnother() {
        client.process().after(50 * MILLI, this::act);
    }

    private void refused(Wish wish, @Nullable Throwable failure) {
        run.say(name + " is not served: " + failure);
        String wrong = "";
        if (failure instanceof LockWaitTimeoutException) {
            if (wish.isTry()) {
                run.reached.hit(Reach.TRY_REFUSED);
            } else if (wish.options.maxWait().isEmpty()) {
                wrong = "though it would wait for ever";
            } else if (localNow() - wish.askedAtLocally
                    < wish.options.maxWait().get().toNanos()) {
                wrong = "though its time was not over";
            } else {
                run.reached.hit(Reach.TIMED_OUT);
            }
        } else if (failure instanceof StoreUnavailableException) {
            run.reached.hit(Reach.STORE_UNAVAILABLE);
            boolean wasTooShort = wish.options.maxWait().isPresent()
                    && wish.options.maxWait().get().toNanos() < 100 * MILLI;
            boolean isUndisturbed = wish.parts.stream()
                    .allMatch(part -> run.isUndisturbed(part.resource().name()));
            wrong = isUndisturbed && !wasTooShort ? "though nothing was disturbed" : "";
        } else if (failure instanceof ClientClosedException) {
            run.reached.hit(Reach.CLOSED_WHILE_WAITING);
            wrong = client.isClosing() ? "" : "though its client was not closed";
        } else if (failure instanceof LockMismatchException) {
            run.reached.hit(Reach.TOO_HEAVY);
            wrong = run.ledger.wasEverTooHeavy(wish.parts) ? "" : "though there were always as many permits";
        } else if (!(failure instanceof CancellationException) || !wish.isCancelled) {
            wrong = "for no reason that it could have";
        }
        if (!wrong.isEmpty()) {
            run.world.fail(
                    Rule.THREE_OUTCOMES, name + "'s request for " + wish + " was refused " + wrong + ": " + failure);
        }
    }

    static @Nullable Throwable causeOf(@Nullable Throwable failure) {
        return failure == null ? null : Stages.causeOf(failure);
    }

    private long localNow() {
        return client.process().clock().monotonic(run.world.now());
    }
}
