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
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;

/** {@code holdfast run}: acquire, run the command, release. */
public final class RunCommand {

    /** Short: a store that has just not replied will hardly confirm that it is closed. */
    private static final Duration CLOSE_TIME_OF_SILENT_STORE = Duration.ofMillis(200);

    private final RunOptions options;
    private final StoreLocation location;
    private final Map<String, String> environment;
    private final Console console;
    private final SignalRelay signals;

    // Used by one thread.
    private Duration closeTime = Stores.CLOSE_TIME;

    public RunCommand(RunOptions options, StoreLocation location, Map<String, String> environment, Console console) {
        this.options = options;
        this.location = location;
        this.environment = environment;
        this.console = console;
        this.signals = new SignalRelay(console, Thread.currentThread());
    }

    /**
     * Runs the command under its lock.
     *
     * @return the exit code
     * @throws CliException if the lock or the command failed
     */
    public int run() {
        signals.install();
        if (location.isOfThisProcess()) {
            console.say("store " + location + " exists only in this process, so it doesn't lock out other processes");
        }
        location.otherUsersDefault(environment, Path.of("/home")).ifPresent(console::say);
        options.lossPolicy().requireProgram(environment);
        String label = Label.of(options.command(), environment);
        try {
            LockStore store = Stores.open(location);
            try {
                return run(store, label);
            } finally {
                Stores.close(closeTime, store);
            }
        } catch (InterruptedException e) {
            return ExitCode.SIGNAL_BASE + signals.stoppedBy();
        } catch (HoldfastException e) {
            throw failure(e);
        } catch (ClientClosedException e) {
            throw new CliException(ExitCode.INTERNAL, String.valueOf(e.getMessage()), e);
        }
    }

    private int run(LockStore store, String label) throws InterruptedException {
        Holdfast client = client(store, label);
        try {
            console.sayIfVerbose(
                    "using " + location.describe() + ", " + store.traits().product());
            Optional<? extends Hold> hold = acquire(client);
            if (hold.isEmpty()) {
                return gaveUp(client);
            }
            HeldCommand command = new HeldCommand(options, location, label, console, signals);
            try {
                return command.run(hold.get(), store);
            } finally {
                if (!command.isReleased()) {
                    closeTime = CLOSE_TIME_OF_SILENT_STORE;
                }
            }
        } finally {
            Stores.close(closeTime, client);
        }
    }

    private Acquirable lock(Holdfast client) {
        try {
            return Acquirable.of(client, options.name(), options.share());
        } catch (IllegalArgumentException e) {
            // The command line has been checked: the store does not support it.
            throw new CliException(ExitCode.STORE_UNUSABLE, Printable.escape(String.valueOf(e.getMessage())), e);
        }
    }

    /** A client with an open session. */
    private Holdfast client(LockStore store, String label) throws InterruptedException {
        Holdfast.Builder builder =
                Holdfast.builder(store).sessionTtl(options.lease()).label(label).storeTimeout(location.timeout());
        try {
            return builder.buildAsync().toCompletableFuture().get();
        } catch (IllegalArgumentException e) {
            throw CliException.usage("--lease " + DurationText.format(options.lease()) + " does not suit the store "
                    + location + ": " + Printable.escape(String.valueOf(e.getMessage())));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /**
     * Tries once before it prepares to wait, since most locks are free. The maximum wait bounds how long others may
     * keep the lock, so it begins when the store is open; the store time-out bounds the store itself.
     */
    private Optional<? extends Hold> acquire(Holdfast client) throws InterruptedException {
        Acquirable lock = lock(client);
        long startNanos = System.nanoTime();
        Optional<? extends Hold> first =
                options.message().isEmpty() ? lock.tryAcquire() : lock.tryAcquire(terms().withMaxWait(Duration.ZERO));
        boolean isOneTry = options.maxWait().map(Duration::isZero).orElse(false);
        if (first.isPresent() || isOneTry) {
            return first;
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
            hold = lock.tryAcquire(remainingWait(startNanos));
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
            // An interrupt came too late to end the wait. If a signal caused it, that is checked before the command is
            // started.
            Thread.interrupted();
            console.sayIfVerbose("waited " + DurationText.format(Duration.ofNanos(System.nanoTime() - startNanos)));
        }
        return hold;
    }

    /** The rest of the maximum wait. */
    private AcquireOptions remainingWait(long startNanos) {
        if (options.maxWait().isEmpty()) {
            return terms();
        }
        Duration rest = options.maxWait().get().minusNanos(System.nanoTime() - startNanos);
        // At least a nanosecond: with zero it would be another try, not a wait.
        return terms().withMaxWait(rest.compareTo(Duration.ofNanos(1)) < 0 ? Duration.ofNanos(1) : rest);
    }

    private AcquireOptions terms() {
        AcquireOptions terms = AcquireOptions.defaults();
        return options.message().map(terms::withMessage).orElse(terms);
    }

    private int gaveUp(Holdfast client) {
        String holder;
        try {
            holder = client.inspect(options.name())
                    .filter(info -> !info.holders().isEmpty())
                    .map(info -> ": " + Holders.describe(info))
                    .orElse(", but is free now");
        } catch (HoldfastException e) {
            holder = "; its holder can't be determined"; // the exit code says that it was taken
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
