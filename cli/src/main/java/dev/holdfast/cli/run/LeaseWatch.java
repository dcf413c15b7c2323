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
 * Ends the command before its lease does.
 *
 * <p>It measures the lease on this process's own clock and doesn't wait for a notification of a loss: a store that
 * can't be reached sends none. When just enough time is left for TERM, the grace and KILL, it sends TERM to the whole
 * tree, so that the last process is dead when the store may grant the lock to another. If the lease has expired
 * already, because this process was stopped or the lock was released by force, there is no grace: every further moment
 * may do harm.
 *
 * <p>If the store comes back and the lease is renewed during the grace, the command still ends: it has received TERM.
 */
final class LeaseWatch {

    /** Short, so that a machine that was suspended notices soon. */
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long FIRST_SCAN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long LONGEST_SCAN_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long KILL_ROUND_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long MAX_KILL_TIME_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Hold hold;
    private final ProcessTree tree;
    private final LossPolicy policy;
    private final Console console;
    private final long killTimeNanos; // kept free for KILL at the end of the lease
    private final Thread thread = new Thread(this::run, "holdfast-lease-watch");

    private volatile @Nullable Loss loss; // set once by the hold's listener
    private volatile boolean acted; // set once by the thread: the command is being ended, or runs on without the lock
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

    /** Ends the watch once no process is left and before the hold is released; waits for its thread. */
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

    /** Whether the lock was lost, or so nearly that the command had to end. */
    boolean hasActed() {
        return acted;
    }

    /** Whether the watch is ending all processes. */
    boolean isEndingTheTree() {
        return acted && policy.action() != LossPolicy.Action.IGNORE;
    }

    private void run() {
        try {
            awaitEndOfLease();
        } catch (RuntimeException | Error bug) {
            // Without a watch the command could outlive its lock.
            acted = true;
            console.say("this is a bug, please report it; the lease can't be monitored, so the command is killed");
            console.trace(bug);
            kill();
        }
    }

    private void awaitEndOfLease() {
        long scanPause = FIRST_SCAN_NANOS;
        long scanAt = System.nanoTime() + scanPause;
        long notice = noticeNanos();
        while (!stopped) {
            long left = leftNanos();
            if (left <= notice) {
                acted = true;
                act();
                return;
            }
            if (System.nanoTime() - scanAt >= 0) {
                tree.scan();
                scanPause = Math.min(2 * scanPause, LONGEST_SCAN_NANOS);
                scanAt = System.nanoTime() + scanPause;
            }
            LockSupport.parkNanos(
                    this, Math.min(left - notice, Math.min(LONGEST_PAUSE_NANOS, scanAt - System.nanoTime())));
        }
    }

    /** How long before its end the lease must not be relied on any more. */
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
                        : " can't be kept: it was not renewed, and its lease expires in "
                                + DurationText.format(hold.remaining()));
        if (policy.action() == LossPolicy.Action.IGNORE) {
            console.say(what + "; the command continues without the lock (--on-lost ignore)");
            return;
        }
        long startNanos = System.nanoTime();
        boolean hasGrace = policy.action() != LossPolicy.Action.KILL && leftNanos() > killTimeNanos;
        if (policy.action() == LossPolicy.Action.EXEC) {
            console.say(what + "; running " + Printable.quote(policy.program()));
            runProgram(known);
        } else if (hasGrace) {
            console.say(what + "; sending TERM to the command and its descendants");
            tree.terminate();
        } else {
            console.say(what + "; killing the command and its descendants");
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
            console.say("still running, and can't be killed by holdfast: " + ProcessText.list(tree.alive()));
        }
    }

    /** The loss if there is one. The lease may expire before the listener is notified of the reason. */
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

    /** The rest of the lease on this process's clock; 0 once the loss is known. */
    private long leftNanos() {
        if (loss != null) {
            return 0;
        }
        Duration left = hold.remaining();
        return left.compareTo(Duration.ofDays(1)) > 0 ? TimeUnit.DAYS.toNanos(1) : left.toNanos();
    }

    /** Starts the user's program without waiting for it: it has the grace to end the command. */
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
