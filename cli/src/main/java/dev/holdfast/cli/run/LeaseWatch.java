package dev.holdfast.cli.run;

import dev.holdfast.Hold;
import dev.holdfast.LockLostException;
import dev.holdfast.Loss;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.StoreLocation;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Sees to it that no command outlives its lock.
 *
 * <p>It goes by the lease as this process's own clock sees it, and doesn't wait to be told of a loss: a store that
 * can't be reached tells nothing. When so little is left that TERM, the grace and KILL just fit, TERM goes to the whole
 * tree, so that the last process is dead when the store may give the lock to another. If the lease is over already,
 * because this process was stopped or the lock was taken away, there is no grace: every further moment may do harm.
 *
 * <p>A lease that comes back in the grace, because the store does, changes nothing: the command has been told to end.
 */
final class LeaseWatch {

    /** A machine that was suspended must notice soon. */
    private static final long LONGEST_NAP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LONGEST_LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long KILL_ROUND_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long MAX_KILL_TIME_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Hold hold;
    private final ProcessTree tree;
    private final LossPolicy policy;
    private final Console console;
    private final long killTimeNanos; // what KILL needs at the end of the lease
    private final Thread thread = new Thread(this::run, "holdfast-lease-watch");

    private volatile @Nullable Loss loss; // set once by the hold's listener
    private volatile boolean acted; // set once by the watch: the command was told to end, or goes on without the lock
    private volatile boolean stopped;

    LeaseWatch(Hold hold, ProcessTree tree, LossPolicy policy, Console console) {
        this.hold = hold;
        this.tree = tree;
        this.policy = policy;
        this.console = console;
        this.killTimeNanos = Math.min(
                MAX_KILL_TIME_NANOS, hold.effectiveLease().dividedBy(20).toNanos());
        thread.setDaemon(true);
    }

    void start() {
        hold.onLost(lost -> {
            loss = lost;
            LockSupport.unpark(thread);
        });
        thread.start();
    }

    /** Ends the watch, once the tree is gone and before the hold is released; waits for what it is doing. */
    void stop() {
        stopped = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether the lock was lost, or was so near to it that the command was told to end. */
    boolean hasActed() {
        return acted;
    }

    /** Whether the whole tree is about to die of it. */
    boolean isEndingTheTree() {
        return acted && policy.action() != LossPolicy.Action.IGNORE;
    }

    private void run() {
        try {
            watch();
        } catch (RuntimeException | Error bug) {
            // A command that nobody watches must not run on.
            acted = true;
            console.say("this is a bug, please report it; the lease can't be watched, so the command is killed");
            console.trace(bug);
            kill();
        }
    }

    private void watch() {
        long look = FIRST_LOOK_NANOS;
        long lookAt = System.nanoTime() + look;
        long notice = noticeNanos();
        while (!stopped) {
            long left = leftNanos();
            if (left <= notice) {
                acted = true;
                act();
                return;
            }
            if (System.nanoTime() - lookAt >= 0) {
                tree.look();
                look = Math.min(2 * look, LONGEST_LOOK_NANOS);
                lookAt = System.nanoTime() + look;
            }
            LockSupport.parkNanos(
                    this, Math.min(left - notice, Math.min(LONGEST_NAP_NANOS, lookAt - System.nanoTime())));
        }
    }

    /** How long before the end of the lease to begin. */
    private long noticeNanos() {
        return switch (policy.action()) {
            case IGNORE -> 0;
            case KILL -> killTimeNanos;
            case TERM, EXEC -> policy.grace().toNanos() + killTimeNanos;
        };
    }

    private void act() {
        Loss known = knownLoss();
        String what = "lock " + Printable.quote(hold.name())
                + (known != null
                        ? " is lost: " + known.cause().words()
                        : " can't be kept: it was not renewed, and its lease ends in "
                                + DurationText.format(hold.remaining()));
        if (policy.action() == LossPolicy.Action.IGNORE) {
            console.say(what + "; the command goes on without it (--on-lost ignore)");
            return;
        }
        long startNanos = System.nanoTime();
        boolean hasGrace = policy.action() != LossPolicy.Action.KILL && leftNanos() > killTimeNanos;
        if (policy.action() == LossPolicy.Action.EXEC) {
            console.say(what + "; running " + Printable.quote(policy.program()));
            runProgram(known);
        } else if (hasGrace) {
            console.say(what + "; sending TERM to the command and all that it started");
            tree.terminate();
        } else {
            console.say(what + "; killing the command and all that it started");
        }
        long pause = TimeUnit.MILLISECONDS.toNanos(5);
        while (hasGrace
                && leftNanos() > killTimeNanos
                && System.nanoTime() - startNanos < policy.grace().toNanos()) {
            if (tree.isGone()) {
                return;
            }
            LockSupport.parkNanos(this, pause);
            pause = Math.min(2 * pause, TimeUnit.MILLISECONDS.toNanos(50));
        }
        kill();
    }

    private void kill() {
        while (!tree.kill(KILL_ROUND_NANOS)) {
            console.say("still running, and not to be killed by us: " + ProcessText.list(tree.alive()));
        }
    }

    /** The loss if there is one: nothing may be left of a hold before its listeners are told why. */
    private @Nullable Loss knownLoss() {
        if (loss == null && leftNanos() == 0) {
            try {
                long unused = hold.fencingToken();
            } catch (LockLostException e) {
                return e.loss();
            }
        }
        return loss;
    }

    /** What is left of the lease on our own clock, 0 once the loss is known. */
    private long leftNanos() {
        if (loss != null) {
            return 0;
        }
        Duration left = hold.remaining();
        return left.compareTo(Duration.ofDays(1)) > 0 ? TimeUnit.DAYS.toNanos(1) : left.toNanos();
    }

    /** Starts the user's program and does not wait for it: its time is the grace. */
    private void runProgram(@Nullable Loss known) {
        ProcessBuilder builder = new ProcessBuilder(policy.program())
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectInput(Child.NOTHING);
        builder.environment().put(ChildEnvironment.NAME, hold.name());
        builder.environment().put("HOLDFAST_PID", Long.toString(tree.root().pid()));
        builder.environment()
                .put(
                        "HOLDFAST_LOSS",
                        known == null ? "NOT_RENEWED" : known.cause().name());
        builder.environment().remove(StoreLocation.VARIABLE);
        try {
            builder.start();
        } catch (IOException e) {
            console.say("can't run " + Printable.quote(policy.program()) + " (--on-lost): "
                    + Printable.escape(String.valueOf(e.getMessage())) + "; sending TERM instead");
            tree.terminate();
        }
    }
}
