package dev.holdfast.cli.run;

import dev.holdfast.AcquireOptions;
import dev.holdfast.ClientClosedException;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.LockLostException;
import dev.holdfast.LockMismatchException;
import dev.holdfast.StoreRefusedException;
import dev.holdfast.StoreUnavailableException;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.DurationText;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.cli.store.Holders;
import dev.holdfast.cli.store.StoreLocation;
import dev.holdfast.cli.store.Stores;
import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** {@code holdfast run}: acquire, run the command, release. */
public final class RunCommand {

    /** How much longer than the wait a store may take to be opened: one that is well is, however short the wait is. */
    private static final Duration OVERTIME = Duration.ofMillis(750);

    private final RunOptions options;
    private final StoreLocation location;
    private final Map<String, String> environment;
    private final Console console;
    private final SignalRelay signals;

    public RunCommand(RunOptions options, StoreLocation location, Map<String, String> environment, Console console) {
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
    public int run() {
        signals.install();
        if (location.isOfThisProcess()) {
            console.say("store " + location + " is known to this process alone, and keeps nobody else out");
        }
        options.lossPolicy().requireProgram(environment);
        String label = Label.of(options.command(), environment);
        long startNanos = System.nanoTime();
        try (LockStore store = Stores.open(location, patience(startNanos));
                Holdfast client = client(store, label, patience(startNanos))) {
            console.sayIfVerbose(
                    "using " + location.describe() + ", " + store.traits().product());
            Optional<? extends Hold> hold = acquire(client, startNanos);
            if (hold.isEmpty()) {
                return gaveUp(client);
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

    /** A client of a store, once its session is there; the store may not answer. */
    private Holdfast client(LockStore store, String label, Duration patience) throws InterruptedException {
        Holdfast.Builder builder =
                Holdfast.builder(store).sessionTtl(options.lease()).label(label).storeTimeout(location.timeout());
        try {
            return builder.buildAsync().toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (IllegalArgumentException e) {
            throw CliException.usage("--lease " + DurationText.format(options.lease()) + " does not fit the store "
                    + location + ": " + Printable.escape(String.valueOf(e.getMessage())));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            // What comes later ends with this process.
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "the store " + location + " did not answer within " + DurationText.format(patience),
                    e);
        }
    }

    /** Tries once, and only then sets up the wait: most locks are free. */
    private Optional<? extends Hold> acquire(Holdfast client, long startNanos) throws InterruptedException {
        Wanted wanted = wanted(client);
        // A try takes as long as the store may be silent, which is longer than a short wait.
        if (!isShortWait()) {
            Optional<? extends Hold> first = wanted.tryAcquire();
            boolean isOneTry = options.maxWait().map(Duration::isZero).orElse(false);
            if (first.isPresent() || isOneTry) {
                return first;
            }
        }
        Optional<? extends Hold> hold;
        WaitNotice notice = new WaitNotice(
                client,
                options.name(),
                options.share(),
                environment.get(ChildEnvironment.STACK),
                console,
                Thread.currentThread());
        notice.start();
        try {
            hold = wanted.tryAcquire(remainingWait(startNanos));
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
    private AcquireOptions remainingWait(long startNanos) {
        if (options.maxWait().isEmpty()) {
            return AcquireOptions.defaults();
        }
        Duration rest = options.maxWait().get().minusNanos(System.nanoTime() - startNanos);
        // At least a moment: with zero it would be a try, which takes as long as the store may be silent.
        return AcquireOptions.defaults()
                .withMaxWait(rest.compareTo(Duration.ofNanos(1)) < 0 ? Duration.ofNanos(1) : rest);
    }

    /** How long the store may still take to be opened: it counts as part of the wait. */
    private Duration patience(long startNanos) {
        if (!isShortWait()) {
            return location.timeout();
        }
        Duration rest = options.maxWait().orElseThrow().plus(OVERTIME).minusNanos(System.nanoTime() - startNanos);
        return rest.isNegative() ? Duration.ZERO : rest;
    }

    private boolean isShortWait() {
        return options.maxWait()
                .filter(wait -> !wait.isZero() && wait.compareTo(location.timeout()) < 0)
                .isPresent();
    }

    private int gaveUp(Holdfast client) {
        String holder;
        try {
            holder = client.inspect(options.name())
                    .filter(info -> !info.holders().isEmpty())
                    .map(info -> ": " + Holders.describe(info))
                    .orElse(", and is free by now");
        } catch (HoldfastException e) {
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
