package dev.holdfast.cli;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** {@code holdfast run}: acquire, run the command, release. */
final class RunCommand {

    private final RunOptions options;
    private final StoreLocation location;
    private final Map<String, String> environment;
    private final Console console;
    private final SignalRelay signals;

    RunCommand(RunOptions options, StoreLocation location, Map<String, String> environment, Console console) {
        this.options = options;
        this.location = location;
        this.environment = environment;
        this.console = console;
        this.signals = new SignalRelay(console, Thread.currentThread());
    }

    /**
     * Runs it.
     *
     * @return the exit code
     * @throws CliException if it came to nothing
     */
    int run() {
        signals.install();
        if (location.isOfThisProcess()) {
            console.say("store " + location + " is known to this process alone, and keeps nobody else out");
        }
        options.lossPolicy().requireProgram(environment);
        String label = Label.of(options.command(), environment);
        try (LockStore store = Stores.open(location);
                Holdfast client = Holdfast.builder(store)
                        .sessionTtl(options.lease())
                        .label(label)
                        .build()) {
            console.sayIfVerbose(
                    "using " + location.describe() + ", " + store.traits().product());
            Optional<? extends Hold> hold = acquire(store, wanted(client));
            if (hold.isEmpty()) {
                return gaveUp(store);
            }
            return new HeldCommand(options, location, label, console, signals).run(hold.get(), store);
        } catch (InterruptedException e) {
            return ExitCode.SIGNAL_BASE + signals.stoppedBy();
        } catch (HoldfastException e) {
            throw failure(e);
        } catch (ClientClosedException e) {
            throw new CliException(ExitCode.INTERNAL, String.valueOf(e.getMessage()), e);
        }
    }

    private Wanted wanted(Holdfast client) {
        try {
            return Wanted.of(client, options.name(), options.share());
        } catch (IllegalArgumentException e) {
            // Names and numbers are checked by now: the store can't do it.
            throw new CliException(ExitCode.STORE_UNUSABLE, Printable.escape(String.valueOf(e.getMessage())), e);
        }
    }

    /** Tries once, and only then sets up the wait: most locks are free. */
    private Optional<? extends Hold> acquire(LockStore store, Wanted wanted) throws InterruptedException {
        long startNanos = System.nanoTime();
        Optional<? extends Hold> hold = wanted.tryAcquire();
        boolean isOneTry = options.maxWait().map(Duration::isZero).orElse(false);
        if (hold.isPresent() || isOneTry) {
            return hold;
        }
        WaitNotice notice = new WaitNotice(
                store,
                location,
                options.name(),
                options.share(),
                environment.get(ChildEnvironment.STACK),
                console,
                Thread.currentThread());
        notice.start();
        try {
            hold = wanted.tryAcquire(patience(startNanos));
        } catch (InterruptedException e) {
            Optional<String> hopeless = notice.stop();
            if (hopeless.isPresent() && signals.stoppedBy() == 0) {
                throw new CliException(options.conflictExitCode(), hopeless.get(), e);
            }
            throw e;
        } finally {
            notice.stop();
        }
        if (hold.isPresent()) {
            // Whoever wanted to end the wait came too late; if it was a signal, it is known and heeded before the
            // command is started.
            Thread.interrupted();
            console.sayIfVerbose("waited " + DurationText.format(Duration.ofNanos(System.nanoTime() - startNanos)));
        }
        return hold;
    }

    /** What is left of the wait. */
    private AcquireOptions patience(long startNanos) {
        if (options.maxWait().isEmpty()) {
            return AcquireOptions.defaults();
        }
        Duration rest = options.maxWait().get().minusNanos(System.nanoTime() - startNanos);
        return AcquireOptions.defaults().withMaxWait(rest.isNegative() ? Duration.ZERO : rest);
    }

    private int gaveUp(LockStore store) throws InterruptedException {
        String holder;
        try {
            holder = Holders.find(store, location, options.name())
                    .filter(info -> !info.holders().isEmpty())
                    .map(info -> ": " + Holders.describe(info, store.traits().tokenSource()))
                    .orElse(", and is free by now");
        } catch (CliException e) {
            holder = ", and who holds it can't be told"; // that it was taken is known all the same
        }
        Duration wait = options.maxWait().orElse(Duration.ZERO);
        console.say("lock " + Printable.quote(options.name())
                + (wait.isZero() ? " was taken" : " was not free within " + DurationText.format(wait))
                + holder
                + "; the command was not run");
        return options.conflictExitCode();
    }

    private CliException failure(HoldfastException e) {
        int code;
        if (e instanceof StoreUnavailableException) {
            code = ExitCode.STORE_UNAVAILABLE;
        } else if (e instanceof LockLostException) {
            code = ExitCode.LOST;
        } else if (e instanceof StoreRefusedException || e instanceof LockMismatchException) {
            code = ExitCode.STORE_UNUSABLE;
        } else {
            code = ExitCode.INTERNAL;
        }
        return new CliException(code, Printable.escape(String.valueOf(e.getMessage())), e);
    }
}
