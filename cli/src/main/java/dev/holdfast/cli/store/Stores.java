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

/** Opens and closes stores, and runs administrative commands on them. */
public final class Stores {

    /** Enough to close a store that replies. */
    public static final Duration CLOSE_TIME = Duration.ofSeconds(2);

    private Stores() {}

    /**
     * Opens a store, within the store time-out.
     *
     * @throws CliException if the store can't be used, or does not open in time
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
     * Closes a store or a client, but waits no longer than the time-out for a silent store: the rest ends with this
     * process.
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
            // The process ends anyway, and its exit code is not about the close.
        }
    }

    private static StoreProvider provider(StoreLocation location) {
        if (location.isFile()) {
            return new SqliteStoreProvider(); // the usual store; avoids a search of all jars
        }
        Drivers.provide(location, System.getenv());
        SeparateStores.provide(location);
        return StoreProvider.of(location.uri());
    }

    /** As {@link #ask(StoreLocation, Function)}, and says so if there is no store where one was named. */
    public static <T> Optional<T> ask(StoreLocation location, Console console, Function<LockAdmin, T> question)
            throws InterruptedException {
        Optional<T> answer = ask(location, question);
        if (answer.isEmpty() && !location.isDefault()) {
            console.say("no locks: the file " + Printable.quote(location.file().toString()) + " does not exist yet");
        }
        return answer;
    }

    /**
     * Opens an existing store for an administrative command; never creates one.
     *
     * @return the result; empty if there is no store yet, and so no lock
     * @throws CliException if the store can't be used, or does not reply in time
     */
    public static <T> Optional<T> ask(StoreLocation location, Function<LockAdmin, T> question)
            throws InterruptedException {
        if (location.isFile() && !Files.exists(location.file(), LinkOption.NOFOLLOW_LINKS)) {
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

    /** The exception that ends the command when the store fails. */
    public static CliException failure(StoreLocation location, StoreException failure) {
        boolean isPassing = failure.reason() == StoreException.Reason.UNAVAILABLE;
        return new CliException(
                isPassing ? ExitCode.STORE_UNAVAILABLE : ExitCode.STORE_UNUSABLE,
                "store " + location + (isPassing ? " can't be reached: " : " can't be used: ")
                        + Printable.escape(String.valueOf(failure.getMessage())),
                failure);
    }
}
