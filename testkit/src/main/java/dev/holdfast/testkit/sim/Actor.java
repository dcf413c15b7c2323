package dev.holdfast.testkit.sim;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.LockWaitTimeoutException;
import dev.holdfast.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One logical thread of a program: asks for a lock in one of the many ways, works under it, writes to what it guards, and lets go in time, late, twice or never. In the end
 * it asks once more, plainly, and must be served.
 */
final class Actor {

    private static final long MILLI = 1_000_000;
    private static final long SHORTEST_LEASE = 200 * MILLI;

    /** One request of an actor. */
    private static final class Request {
        final String resource;
        final AcquireOptions options;
        final long greatestBefore;
        final long askedAtLocally;
        boolean isDone;
        boolean isCancelled;

        Request(String resource, AcquireOptions options, long greatestBefore, long askedAtLocally) {
            this.resource = resource;
            this.options = options;
            this.greatestBefore = greatestBefore;
            this.askedAtLocally = askedAtLocally;
        }

        boolean isTry() {
            return options.maxWait().isPresent() && options.maxWait().get().isZero();
        }
    }

    private final Run run;
    private final Client client;
    private final Dice dice;
    private final String name;
    private int operations;
    private boolean isBusy;
    private boolean isFinished;

    Actor(Run run, Client client, Dice dice, String name) {
        this.run = run;
        this.client = client;
        this.dice = dice;
        this.name = name;
        this.operations = run.plan.operations;
    }

    boolean isFinished() {
        return isFinished || client.process().isDead();
    }

    @Override
    public String toString() {
        return name;
    }

    // ---- What to do next

    void begin() {
        if (!isBusy && !isFinished) {
            isBusy = true;
            think();
        }
    }

    private void think() {
        client.process().after(dice.between(0, run.plan.thinkMax), this::act);
    }

    private void pause() {
        isBusy = false;
    }

    private void act() {
        if (!client.isOpen()) {
            // A client that comes back begins its actors anew.
            pause();
        } else if (run.isDraining()) {
            ask(new Request(resource(), AcquireOptions.defaults(), 0, localNow()), false);
        } else if (operations-- > 0) {
            Request request = chosen();
            ask(request, dice.chance(run.plan.cancels));
        } else {
            pause();
        }
    }

    private Request chosen() {
        Plan plan = run.plan;
        AcquireOptions options = AcquireOptions.defaults();
        if (dice.chance(plan.tries)) {
            options = options.withMaxWait(Duration.ZERO);
        } else if (dice.chance(plan.maxWaits)) {
            options = options.withMaxWait(Duration.ofNanos(dice.heavyTail(MILLI, 2 * plan.ttl)));
        }
        if (dice.chance(plan.fixedLeases)) {
            options = options.withFixedLease(Duration.ofNanos(dice.between(SHORTEST_LEASE, plan.leaseMax)));
        } else if (dice.chance(plan.maxHolds)) {
            options = options.withMaxHold(Duration.ofNanos(dice.between(SHORTEST_LEASE, plan.leaseMax)));
        }
        String resource = resource();
        return new Request(resource, options, run.judge.greatestToken(resource), localNow());
    }

    private String resource() {
        return "r" + dice.below(run.plan.resources);
    }

    // ---- Asking

    private void ask(Request request, boolean isToBeCancelled) {
        run.say(name + " asks for " + request.resource + " (" + request.options + ")");
        client.startsWaiting(request.resource);
        CompletionStage<Hold> stage;
        try {
            stage = client.lock(request.resource).acquireAsync(request.options);
        } catch (ClientClosedException closed) {
            ended(request, null, closed);
            return;
        }
        stage.whenComplete((hold, failure) -> ended(request, hold, failure));
        watchWait(request);
        if (isToBeCancelled && !request.isDone) {
            client.process()
                    .after(dice.heavyTail(10_000, run.plan.ttl), () -> cancel(request, stage.toCompletableFuture()));
        }
    }

    /** Sees to it that a wait ends when its time is over, give or take one command to the store. */
    private void watchWait(Request request) {
        if (request.isDone || request.options.maxWait().isEmpty()) {
            return;
        }
        long since = run.world.now();
        long wait = client.process()
                .clock()
                .trueDuration(request.options.maxWait().get().toNanos());
        long within = wait + (request.isTry() ? 2 * run.plan.storeTimeout : 0) + run.plan.toldWithin();
        run.world.after(within, () -> {
            boolean hasRun = client.process().isRunning() && client.process().runningSince() < since;
            if (!request.isDone && hasRun) {
                run.world.fail(
                        Rule.EVERYTHING_ENDS,
                        name + "'s request for " + request.resource + " (" + request.options + ") has not ended within "
                                + within / 1_000_000 + " ms");
            }
        });
    }

    private void cancel(Request request, CompletableFuture<Hold> future) {
        if (!request.isDone) {
            run.say(name + " cancels");
            run.reached.hit(Reach.CANCELLED);
            request.isCancelled = true;
            if (!future.cancel(false)) {
                run.world.fail(Rule.GIVEN_UP, name + " could not cancel a request that had not ended");
            }
        }
    }

    private void ended(Request request, @Nullable Hold hold, @Nullable Throwable failure) {
        if (request.isDone) {
            run.world.fail(Rule.THREE_OUTCOMES, name + "'s request ended twice");
        }
        request.isDone = true;
        client.stopsWaiting(request.resource);
        if (hold != null) {
            granted(request, hold);
        } else {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            refused(request, cause);
            if (run.isDraining()) {
                client.process().after(50 * MILLI, this::act);
            } else {
                think();
            }
        }
    }

    private void refused(Request request, @Nullable Throwable failure) {
        run.say(name + " is not served: " + failure);
        String wrong = "";
        if (failure instanceof LockWaitTimeoutException) {
            if (request.isTry()) {
                run.reached.hit(Reach.TRY_REFUSED);
            } else if (request.options.maxWait().isEmpty()) {
                wrong = "though it would wait for ever";
            } else if (localNow() - request.askedAtLocally
                    < request.options.maxWait().get().toNanos()) {
                wrong = "though its time was not over";
            } else {
                run.reached.hit(Reach.TIMED_OUT);
            }
        } else if (failure instanceof StoreUnavailableException) {
            run.reached.hit(Reach.STORE_UNAVAILABLE);
            boolean wasTooShort = request.options.maxWait().isPresent()
                    && request.options.maxWait().get().toNanos() < 100 * MILLI;
            wrong = run.plan.isCalm && !wasTooShort ? "though nothing was disturbed" : "";
        } else if (failure instanceof ClientClosedException) {
            run.reached.hit(Reach.CLOSED_WHILE_WAITING);
            wrong = client.isClosing() ? "" : "though its client was not closed";
        } else if (!(failure instanceof CancellationException) || !request.isCancelled) {
            wrong = "for no reason that it could have";
        }
        if (!wrong.isEmpty()) {
            run.world.fail(
                    Rule.THREE_OUTCOMES,
                    name + "'s request for " + request.resource + " (" + request.options + ") was refused " + wrong
                            + ": " + failure);
        }
    }

    // ---- Holding

    private void granted(Request request, Hold hold) {
        if (request.isCancelled) {
            run.world.fail(Rule.GIVEN_UP, name + " is granted what it had cancelled");
        }
        if (client.isClosing() && hold.isHeld()) {
            run.world.fail(Rule.CLOSED, name + " is granted a lock while its client is being closed");
        }
        client.noteGrant();
        client.startsHolding(request.resource);
        Holding holding = run.judge.granted(client, request.resource, hold, request.greatestBefore);
        int most = request.options.fixedLease().isPresent() ? 8 : 4;
        int steps = run.isDraining() ? 0 : dice.below(most);
        work(holding, request, steps);
    }

    private void work(Holding holding, Request request, int steps) {
        long holdMax = run.isDraining() ? Math.min(run.plan.holdMax, 5 * MILLI) : run.plan.holdMax;
        client.process().after(dice.between(0, holdMax / (steps + 1)), () -> {
            if (steps == 0) {
                finish(holding, request);
                return;
            }
            boolean isHeld = run.judge.look(holding);
            boolean isExtendable = request.options.fixedLease().isPresent();
            if (isExtendable && isHeld && dice.chance(run.plan.extensions)) {
                extend(holding);
            } else {
                write(holding);
            }
            work(holding, request, isHeld || dice.chance(0.3) ? steps - 1 : 0);
        });
    }

    /** Checks, and writes after a moment in which anything may happen. The write then travels by itself. */
    private void write(Holding holding) {
        long token = run.judge.token(holding);
        if (token == 0) {
            return;
        }
        long checkedAt = run.world.now();
        long moment = dice.chance(0.1) ? dice.heavyTail(MILLI, run.plan.ttl / 2) : dice.heavyTail(1_000, MILLI);
        client.process().after(moment, () -> {
            if (client.process().runningSince() > checkedAt) {
                run.reached.hit(Reach.STOPPED_BETWEEN_CHECK_AND_WRITE);
            }
            run.world.after(
                    run.weather.delay(dice),
                    () -> run.judge.guarded(holding.resource).write(token, holding));
        });
    }

    private void extend(Holding holding) {
        Duration lease = Duration.ofNanos(dice.between(SHORTEST_LEASE, run.plan.leaseMax));
        run.say(name + " extends to " + lease);
        client.subject().extend(holding.hold, lease).whenComplete((nothing, failure) -> {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            if (cause == null) {
                run.reached.hit(Reach.EXTENDED);
            } else if (cause instanceof StoreUnavailableException) {
                run.reached.hit(Reach.EXTENSION_UNKNOWN);
            } else if (!(cause instanceof LockLostException)
                    && !(cause instanceof ClientClosedException)
                    && !(cause instanceof IllegalStateException && holding.isReleased)) {
                run.world.fail(
                        Rule.THREE_OUTCOMES, name + "'s extension ended for no reason that it could have: " + cause);
            }
        });
    }

    // ---- Letting go

    private void finish(Holding holding, Request request) {
        if (dice.chance(0.5)) {
            run.judge.look(holding);
        }
        boolean endsByItself = request.options.fixedLease().isPresent()
                || request.options.maxHold().isPresent();
        if (endsByItself && !run.isDraining() && dice.chance(run.plan.abandons)) {
            run.say(name + " forgets " + holding);
            client.leaves(holding.resource, 2 * run.plan.leaseMax);
            think();
            return;
        }
        release(holding);
        if (dice.chance(run.plan.doubleReleases)) {
            client.process().after(dice.heavyTail(1_000, run.plan.ttl), () -> releaseAgain(holding));
        }
        if (run.isDraining() && request.options.maxWait().isEmpty()) {
            isFinished = true;
        } else {
            think();
        }
    }

    private void release(Holding holding) {
        run.say(name + " releases " + holding);
        client.stopsHolding(holding.resource);
        run.judge.releasing(holding);
        long since = run.world.now();
        holding.hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                run.world.fail(Rule.RELEASED_IS_GONE, name + "'s release failed: " + failure);
            } else {
                run.judge.released(holding, outcome, client.hasBeenAloneSince(holding.resource, since));
            }
        });
    }

    private void releaseAgain(Holding holding) {
        run.say(name + " releases " + holding + " again");
        holding.hold.releaseAsync().whenComplete((outcome, failure) -> {
            if (failure != null) {
                run.world.fail(Rule.ONLY_THE_OWNER, name + "'s second release failed: " + failure);
            }
        });
    }

    private long localNow() {
        return client.process().clock().monotonic(run.world.now());
    }
}
