package dev.holdfast.cli.run;

import dev.holdfast.Hold;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.support.Randomness;
import dev.holdfast.store.sqlite.Presence;
import dev.holdfast.store.sqlite.SqliteStore;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The command under its lock, from its start to the release. */
final class HeldCommand {

    private static final long LAST_KILL_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Enough for a store that replies again, so that others need not wait for the end of the lease. */
    private static final long RELEASE_AFTER_LOSS_MILLIS = 300;

    private final RunOptions options;
    private final StoreLocation location;
    private final String label;
    private final Console console;
    private final SignalRelay signals;

    // Used by one thread.
    private boolean isReleased;

    HeldCommand(RunOptions options, StoreLocation location, String label, Console console, SignalRelay signals) {
        this.options = options;
        this.location = location;
        this.label = label;
        this.console = console;
        this.signals = signals;
    }

    /**
     * Starts the command, waits for its end and releases the lock.
     *
     * @param hold acquired by the calling thread; released on return, even by an exception
     * @return the exit code
     * @throws CliException if the command can't be run, or the lock was lost
     */
    int run(Hold hold, LockStore store) {
        // The store in a file can see the processes of its machine; other stores rely on the lease alone.
        Optional<Presence> presence =
                store instanceof SqliteStore sqlite ? Optional.of(sqlite.presence()) : Optional.empty();
        String mark = newMark();
        Process process;
        try {
            ProcessBuilder builder = prepare(hold, presence, mark);
            int signal = signals.beginRun();
            if (signal != 0) {
                // The signal came too late to end the wait, but before the command was started.
                Thread.interrupted();
                signals.ended();
                return release(hold, ExitCode.SIGNAL_BASE + signal, false);
            }
            process = Child.start(builder);
        } catch (CliException e) {
            signals.ended();
            throw new CliException(release(hold, e.exitCode(), false), String.valueOf(e.getMessage()), e);
        }
        boolean isLost = awaitEnd(process, hold, presence, mark);
        signals.ended();
        return release(hold, process.exitValue(), isLost);
    }

    /** Whether the store has confirmed the release; false until {@link #run} has returned. */
    boolean isReleased() {
        return isReleased;
    }

    /** Prepares all but the process, so that a signal either prevents the start or is passed on to the process. */
    private ProcessBuilder prepare(Hold hold, Optional<Presence> presence, String mark) {
        ProcessBuilder builder = Child.prepare(options.command(), options.withStdin());
        long deadline = Instant.now().plus(hold.remaining()).getEpochSecond();
        ChildEnvironment.fill(builder.environment(), location, mark, hold.name(), hold.fencingToken(), label, deadline);
        presence.ifPresent(own -> own.mark(builder.environment()));
        try {
            presence.ifPresent(Presence::leaseOnly);
        } catch (StoreException e) {
            throw Stores.failure(location, e);
        }
        return builder;
    }

    /**
     * Waits until the command has ended, and until what it started has ended or is to be ignored. Returns whether the
     * lock was lost meanwhile.
     */
    private boolean awaitEnd(Process process, Hold hold, Optional<Presence> presence, String mark) {
        ProcessTree tree = new ProcessTree(process.toHandle(), mark);
        try {
            signals.started(tree);
            LeaseWatch leaseWatch = new LeaseWatch(hold, tree, options.lossPolicy(), console);
            leaseWatch.start();
            follow(presence, process, hold);
            int code = await(process);
            new LeftoverWait(options, tree, leaseWatch, signals, console).await(code);
            leaseWatch.stop();
            return leaseWatch.hasActed();
        } catch (RuntimeException | Error bug) {
            // The caller releases the lock: no process may outlive that.
            if (!tree.kill(LAST_KILL_NANOS)) {
                console.say("still running without the lock: " + ProcessText.list(tree.alive()));
            }
            throw bug;
        }
    }

    private void follow(Optional<Presence> presence, Process process, Hold hold) {
        try {
            presence.ifPresent(own -> own.follow(process.pid()));
            console.sayIfVerbose("running as process " + process.pid() + " under " + Printable.quote(hold.name()));
        } catch (StoreException e) {
            // The lease still protects the command. Only after a crash do others wait longer than they need to.
            console.sayIfVerbose("the store can't record the command's process: "
                    + Printable.escape(String.valueOf(e.getMessage())));
        }
    }

    private static int await(Process process) {
        boolean interrupted = false;
        while (true) {
            try {
                int code = process.waitFor();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return code;
            } catch (InterruptedException e) {
                // Not expected while the command runs; waiting for the command matters more.
                interrupted = true;
            }
        }
    }

    /** Releases the lock and decides the exit code. */
    private int release(Hold hold, int code, boolean isLost) {
        ReleaseOutcome outcome = isLost
                ? releaseLost(hold)
                : hold.releaseAsync().toCompletableFuture().join();
        isReleased = outcome == ReleaseOutcome.RELEASED;
        if (isLost || outcome == ReleaseOutcome.LOST) {
            throw new CliException(
                    ExitCode.LOST,
                    "lock " + Printable.quote(hold.name()) + " was lost before the command ended (with " + code
                            + "): another process may have held it in the meantime");
        }
        if (outcome == ReleaseOutcome.UNCONFIRMED) {
            console.say("the store did not confirm the release of " + Printable.quote(hold.name())
                    + "; the lock ends with its lease at the latest");
            return code == 0 ? ExitCode.RELEASE_UNCONFIRMED : code;
        }
        console.sayIfVerbose("released " + Printable.quote(hold.name()));
        return code;
    }

    /** Releases a lost lock with a short wait: the reply changes nothing, and the store is probably silent. */
    private static ReleaseOutcome releaseLost(Hold hold) {
        return hold.releaseAsync()
                .toCompletableFuture()
                .completeOnTimeout(ReleaseOutcome.LOST, RELEASE_AFTER_LOSS_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    /**
     * 128 random bits, so that no process of another user can pass for a member by a guess. An environment can be read
     * only by its own user.
     */
    private static String newMark() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(Randomness.nextLong()) + hex.toHexDigits(Randomness.nextLong());
    }
}
