package dev.holdfast.cli.store;

import dev.holdfast.HoldfastException;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.cli.console.Printable;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.support.BoundedOpening;
import dev.holdfast.store.sqlite.SqliteStoreProvider;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Opens stores, and asks them what operators want to know. */
public final class Stores {

    /** Enough to close a store that answers. */
    public static final Duration CLOSE_TIME = Duration.ofSeconds(2);

    private Stores() {}

    /**
     * Opens a store, within the store time-out.
     *
     * @throws CliException if it can't be used, or is not open by then
     */
    public static LockStore open(StoreLocation location) throws InterruptedException {
        try {
            StoreProvider provider = provider(location);
            return BoundedOpening.within(location.timeout(), () -> provider.open(location.uri()));
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Printable.escape(String.valueOf(e.getMessage())), e);
        } catch (StoreException e) {
            throw failure(location, e);
        } catch (LinkageError e) {
            throw SeparateStores.damaged(location, e).orElseThrow(() -> e);
        }
    }

    /**
     * Closes a store, or a client of one, without waiting longer than that for a store that is silent: what is left
     * ends with this process.
     */
    public static void close(Duration timeout, AutoCloseable opened) {
        FutureTask<Void> closing = new FutureTask<>(() -> {
            opened.close();
            return null;
        });
        Thread thread = new Thread(closing, "holdfast-close");
        thread.setDaemon(true);
        thread.start();
        try {
            Void unused = closing.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException | TimeoutException | ExecutionException e) {
            // The process ends without it, and its exit code is about something else.
        }
    }

    private static StoreProvider provider(StoreLocation location) {
        if (location.isFile()) {
            return new SqliteStoreProvider(); // the usual one needs no look through all jars
        }
        Drivers.provide(location, System.getenv());
        SeparateStores.provide(location);
        return StoreProvider.of(location.uri());
    }

    /**
     * Opens a store to ask it something or to end what is there, and makes nothing that isn't there.
     *
     * @return the answer; empty if there is no store yet, and so nobody holds anything
     * @throws CliException if it can't be used, or does not answer in time
     */
    public static <T> Optional<T> ask(StoreLocation location, Console console, Function<LockAdmin, T> question)
            throws InterruptedException {
        if (location.isFile() && !Files.exists(location.file(), LinkOption.NOFOLLOW_LINKS)) {
            if (!location.isDefault()) {
                console.say(
                        "nothing is locked: " + Printable.quote(location.file().toString()) + " isn't there yet");
            }
            return Optional.empty();
        }
        LockStore store = open(location);
        try {
            return Optional.of(question.apply(LockAdmin.of(store, location.timeout())));
        } catch (HoldfastException e) {
            throw e.getCause() instanceof StoreException known ? failure(location, known) : e;
        } finally {
            close(CLOSE_TIME, store);
        }
    }

    /** The end of a command for which the store is the reason. */
    public static CliException failure(StoreLocation location, StoreException failure) {
        boolean isPassing = failure.reason() == StoreException.Reason.UNAVAILABLE;
        return new CliException(
                isPassing ? ExitCode.STORE_UNAVAILABLE : ExitCode.STORE_UNUSABLE,
                "store " + location + (isPassing ? " can't be reached: " : " can't be used: ")
                        + Printable.escape(String.valueOf(failure.getMessage())),
                failure);
    }
}
