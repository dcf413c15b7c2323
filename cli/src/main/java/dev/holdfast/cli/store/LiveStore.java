package dev.holdfast.cli.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.admin.LockAdmin;
import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.console.ExitCode;
import dev.holdfast.spi.LockStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that is read for a long time: opened with the first request, and again with a later one if that fails. A file
 * is never created.
 *
 * <p><b>Thread-safety:</b> all methods may be called from any thread.
 */
public final class LiveStore implements Supplier<Optional<LockAdmin>>, AutoCloseable {

    private final StoreLocation location;

    @GuardedBy("this")
    private @Nullable LockStore opened;

    @GuardedBy("this")
    private @Nullable LockAdmin admin;

    public LiveStore(StoreLocation location) {
        this.location = location;
    }

    /**
     * Returns the store; empty while its file does not exist.
     *
     * @throws CliException if the store can't be opened
     */
    @Override
    public synchronized Optional<LockAdmin> get() {
        if (location.isFile() && !Files.exists(location.file(), LinkOption.NOFOLLOW_LINKS)) {
            close();
            return Optional.empty();
        }
        if (admin == null) {
            try {
                LockStore store = Stores.open(location);
                opened = store;
                admin = LockAdmin.of(store, location.timeout());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CliException(ExitCode.STORE_UNAVAILABLE, "interrupted while the store was being opened", e);
            }
        }
        return Optional.of(admin);
    }

    @Override
    public synchronized void close() {
        if (opened != null) {
            Stores.close(Stores.CLOSE_TIME, opened);
        }
        opened = null;
        admin = null;
    }
}
