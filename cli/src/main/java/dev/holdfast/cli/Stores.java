package dev.holdfast.cli;

import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreProvider;
import dev.holdfast.spi.support.BoundedOpening;
import dev.holdfast.store.sqlite.SqliteStoreProvider;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Opening a store, and asking it something outside of the engine. */
final class Stores {

    private Stores() {}

    /**
     * Opens a store, within the time that it may take to answer a question.
     *
     * @throws CliException if it can't be used
     */
    static LockStore open(StoreLocation location) throws InterruptedException {
        return open(location, location.timeout());
    }

    /**
     * Opens a store.
     *
     * @param patience how long that may take
     * @throws CliException if it can't be used, or is not open by then
     */
    static LockStore open(StoreLocation location, Duration patience) throws InterruptedException {
        try {
            StoreProvider provider = provider(location);
            return BoundedOpening.within(patience, () -> provider.open(location.uri()));
        } catch (IllegalArgumentException e) {
            throw new CliException(ExitCode.USAGE, Printable.escape(String.valueOf(e.getMessage())), e);
        } catch (StoreException e) {
            throw failure(location, e);
        } catch (LinkageError e) {
            throw SeparateStores.damaged(location, e).orElseThrow(() -> e);
        }
    }

    private static StoreProvider provider(StoreLocation location) {
        if (location.isFile()) {
            return new SqliteStoreProvider(); // the usual one needs no look through all jars
        }
        Drivers.provide(location, System.getenv());
        SeparateStores.provide(location);
        try {
            return StoreProvider.of(location.uri());
        } catch (IllegalArgumentException e) {
            throw CliException.usage(Printable.escape(String.valueOf(e.getMessage()))
                    + " Stores with files of their own: " + new TreeSet<>(SeparateStores.DIRECTORIES.keySet()) + ".");
        }
    }

    /**
     * Opens a store to look at it or to end what is there, and makes nothing that isn't there.
     *
     * @return empty if there is no store yet, and so nobody holds anything
     * @throws CliException if it can't be used
     */
    static Optional<LockStore> openToLook(StoreLocation location, Console console) throws InterruptedException {
        if (location.isFile()) {
            Path file = location.file();
            if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                if (!location.isDefault()) {
                    console.say("nothing is locked: " + Printable.quote(file.toString()) + " isn't there yet");
                }
                return Optional.empty();
            }
        }
        return Optional.of(open(location));
    }

    /**
     * Asks one question and waits for the answer.
     *
     * @throws CliException if there is none
     */
    static Reply ask(LockStore store, StoreLocation location, Command command) throws InterruptedException {
        try {
            return store.execute(command, CallerMode.BLOCKING)
                    .toCompletableFuture()
                    .get(location.timeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StoreException) {
                throw failure(location, (StoreException) e.getCause());
            }
            throw new IllegalStateException("The store " + location + " failed: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new CliException(
                    ExitCode.STORE_UNAVAILABLE,
                    "the store " + location + " did not answer within " + DurationText.format(location.timeout()),
                    e);
        }
    }

    /** The end of a command for which the store is the reason. */
    static CliException failure(StoreLocation location, StoreException failure) {
        boolean isPassing = failure.reason() == StoreException.Reason.UNAVAILABLE;
        return new CliException(
                isPassing ? ExitCode.STORE_UNAVAILABLE : ExitCode.STORE_UNUSABLE,
                "store " + location + (isPassing ? " can't be reached: " : " can't be used: ")
                        + Printable.escape(String.valueOf(failure.getMessage())),
                failure);
    }
}
