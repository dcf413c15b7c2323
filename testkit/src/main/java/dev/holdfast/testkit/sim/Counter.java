package dev.holdfast.testkit.sim;

import dev.holdfast.ClientClosedException;
import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.StoreUnavailableException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A user of a shared latch: it sets the count, counts down, and waits for the latch to open. In the end it waits once
 * more, counting down meanwhile, and must pass.
 */
final class Counter implements Participant {

    private static final long MILLI = 1_000_000;
    /** The most in one process, so that each can set counts of its own. */
    private static final int COUNTERS = 2;

    private static final long MOST = 3;
    private static final long AGAIN = 50 * MILLI;

    private final Run run;
    private final SimClient client;
    private final SeededRandom random;
    private final String name;
    private final int number;
    private final DistributedCountDownLatch latch;
    private final LatchRecord latchRecord;
    private int operations;
    private int ids;
    private String lastId;
    private boolean wasEverUnknown;
    private boolean isBusy;
    private boolean isFinished;

    Counter(Run run, SimClient client, SeededRandom random, int number, String latch) {
        this.run = run;
        this.client = client;
        this.random = random;
        this.number = number;
        this.name = client.name() + ".c" + number;
        this.lastId = name + "-0";
        this.latch = client.subject().latch(latch);
        this.latchRecord = run.storeOracle.latch(latch);
        this.operations = 2 * run.plan.operations;
    }

    @Override
    public boolean isFinished() {
        return isFinished || client.process().isDead();
    }

    @Override
    public String toString() {
        return name;
    }

    @Override
    public void begin() {
        if (!isBusy && !isFinished) {
            isBusy = true;
            think();
        }
    }

    private void think() {
        client.process().after(random.between(0, run.plan.thinkMax), this::act);
    }

    private void act() {
        if (!client.isOpen()) {
            isBusy = false;
        } else if (run.isDraining()) {
            waitForIt(false);
        } else if (operations-- <= 0) {
            isBusy = false;
        } else if (random.chance(0.2)) {
            set(COUNTERS * random.between(1, MOST) + number % COUNTERS);
        } else if (random.chance(0.7)) {
            // A repeated id counts once.
            lastId = random.chance(0.1) ? lastId : name + "-" + ++ids;
            count(lastId, this::think);
        } else {
            waitForIt(random.chance(run.plan.cancels));
        }
    }

    // ---- Setting and counting

    private void set(long count) {
        run.say(name + " sets the latch to " + count);
        long since = run.world.now();
        latch.trySetCountAsync(count).whenComplete((isSetter, failure) -> {
            if (failure == null) {
                run.say(name + (isSetter ? " has set the latch" : " finds the latch set"));
                latchRecord.setEnded(isSetter, count, client.process(), since, wasEverUnknown);
            } else {
                wasEverUnknown = true;
                check("setting", failure);
            }
            think();
        });
    }

    private void count(String id, Runnable then) {
        run.say(name + " counts down as " + id);
        long since = run.world.now();
        latchRecord.begins(id);
        latch.countDownAsync(id).whenComplete((left, failure) -> {
            latchRecord.ends(id);
            if (failure != null) {
                check("counting down", failure);
            } else {
                run.say(name + " has counted down to " + left);
                latchRecord.counted(id, since);
                if (left == 0 && !latchRecord.wasOpenSince(since)) {
                    run.world.fail(Rule.PASSED, name + " is told that the latch is open, which it was at no time");
                }
            }
            then.run();
        });
    }

    // ---- Waiting

    private void waitForIt(boolean isToBeCancelled) {
        run.say(name + " waits for the latch");
        long since = run.world.now();
        boolean wasShut = !latchRecord.isOpen();
        CompletableFuture<Void> passing = latch.awaitAsync().toCompletableFuture();
        var unused = passing.whenComplete((nothing, failure) -> passed(since, wasShut, failure));
        if (isToBeCancelled) {
            client.process().after(random.heavyTail(10_000, run.plan.ttl), () -> {
                if (passing.cancel(false)) {
                    run.say(name + " waits no longer");
                }
            });
        }
        client.process().after(AGAIN, () -> openInTheEnd(passing));
    }

    private void passed(long since, boolean wasShut, @Nullable Throwable failure) {
        if (failure == null) {
            run.say(name + " passes the latch");
            run.coverage.hit(wasShut ? CoveragePoint.LATCH_OPENED : CoveragePoint.LATCH_WAS_OPEN);
            if (!latchRecord.wasOpenSince(since)) {
                run.world.fail(Rule.PASSED, name + " has passed the latch, which was open at no time");
            }
            isFinished = run.isDraining();
        } else if (!(failure instanceof CancellationException)) {
            check("waiting", failure);
        }
        if (!isFinished) {
            think();
        }
    }

    /** Counts down in the final phase, because other counters may have died. */
    private void openInTheEnd(CompletableFuture<Void> passing) {
        if (passing.isDone() || !client.isOpen()) {
            return;
        }
        if (run.isDraining()) {
            count(name + "-" + ++ids, () -> {});
        }
        client.process().after(4 * AGAIN, () -> openInTheEnd(passing));
    }

    private void check(String what, Throwable failure) {
        Throwable cause = Actor.causeOf(failure);
        run.say(name + "'s " + what + " fails: " + cause);
        boolean isClosed = cause instanceof ClientClosedException && client.isClosing();
        boolean isSilence = cause instanceof StoreUnavailableException && !run.isUndisturbed(Run.LATCH);
        if (!isClosed && !isSilence) {
            run.world.fail(
                    Rule.THREE_OUTCOMES, name + "'s " + what + " ended for no reason that it could have: " + cause);
        }
    }
}
