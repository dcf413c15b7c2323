package dev.holdfast.cli.run;

import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.run.RunOptions.Leftovers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Waits, after the end of the command, for the processes that it has started. */
final class LeftoverWait {

    private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long KILL_ROUND_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final RunOptions options;
    private final ProcessTree tree;
    private final LeaseWatch leaseWatch;
    private final SignalRelay signals;
    private final Console console;

    // Used by one thread.
    private long sinceNanos;
    private boolean isReported;
    private boolean isEnding;

    LeftoverWait(RunOptions options, ProcessTree tree, LeaseWatch leaseWatch, SignalRelay signals, Console console) {
        this.options = options;
        this.tree = tree;
        this.leaseWatch = leaseWatch;
        this.signals = signals;
        this.console = console;
    }

    /**
     * Returns when no process is left, or those that are left are to be ignored.
     *
     * @param code the exit code of the command
     */
    void await(int code) {
        sinceNanos = System.nanoTime();
        long pause = FIRST_PAUSE_NANOS;
        while (!tree.isGone()) {
            if (leaseWatch.isEndingTheTree()) {
                // The watch itself kills what is left.
            } else if (options.leftovers() == Leftovers.IGNORE) {
                console.sayIfVerbose(
                        "releasing the lock although these processes still run: " + ProcessText.list(tree.alive()));
                return;
            } else if (options.leftovers() == Leftovers.KILL) {
                kill();
            } else if (isEnding || signals.hasPassedOnStop() || isEndedBySignal(code)) {
                end();
            } else {
                report(code);
            }
            LockSupport.parkNanos(this, pause);
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }

    /** Ends what is left: whoever ended the command meant all of it. */
    private void end() {
        if (!isEnding) {
            isEnding = true;
            sinceNanos = System.nanoTime();
            tree.terminate();
        } else if (System.nanoTime() - sinceNanos > options.lossPolicy().grace().toNanos()) {
            kill();
        }
    }

    private void kill() {
        if (!tree.kill(KILL_ROUND_NANOS)) {
            console.say("still running, and can't be killed by holdfast: " + ProcessText.list(tree.alive()));
        }
    }

    private void report(int code) {
        if (isReported || System.nanoTime() - sinceNanos <= QUIET_NANOS) {
            return;
        }
        List<ProcessHandle> alive = tree.alive();
        if (alive.isEmpty() && tree.isGone()) {
            return; // the last one has ended since the caller asked
        }
        isReported = true;
        console.say("the command has ended with " + code
                + ", but the lock is kept until its descendants have ended: "
                + (alive.isEmpty() ? "some that can't be examined" : ProcessText.list(alive)));
    }

    /** Whether, according to its exit code, HUP, INT or TERM ended the command. */
    private static boolean isEndedBySignal(int code) {
        int signal = code - ExitCode.SIGNAL_BASE;
        return signal == 1 || signal == 2 || signal == 15;
    }
}
