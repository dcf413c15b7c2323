package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.sqlite.process.MountTable;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database file: made private from its first moment, and watched, so that a file that was deleted or replaced under
 * us is never taken for the truth.
 *
 * <p>SQLite's locks on the file belong to the process, and closing <em>any</em> descriptor of it drops them all. So
 * nothing here opens the file, but to make it.
 */
final class SqliteFile {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteFile.class);

    // Two stores in one process might be opened at once: the one that makes the file must have closed it before the
    // other opens it. A literal is one object for all class loaders.
    private static final Object MAKING = "dev.holdfast.store.sqlite.making";

    private static final Object GONE = new Object();

    /** The byte of the shared memory on which all that use it have a lock, in SQLite's own terms UNIX_SHM_DMS. */
    private static final long USERS_BYTE = 128;

    // The bytes of the database on which all that have it open have locks.
    private static final long FIRST_SHARED_BYTE = 0x40000002L;
    private static final long LAST_SHARED_BYTE = FIRST_SHARED_BYTE + 509;

    private final Path named;
    private final Path path;
    private final Path log;
    private final Path sharedMemory;
    private final @Nullable Object key;
    private @Nullable Object logKey;
    private @Nullable Object sharedMemoryKey;

    private SqliteFile(Path named, Path path) throws IOException {
        this.named = named;
        this.path = path;
        this.log = beside(path, "-wal");
        this.sharedMemory = beside(path, "-shm");
        this.key = keyOf(path);
    }

    private static Path beside(Path file, String suffix) {
        return file.resolveSibling(file.getFileName() + suffix);
    }

    /**
     * Makes a file ready to be opened as a database, and makes it if it isn't there. A file that is there is not
     * touched.
     *
     * @param makesDirectory whether a missing directory is made too
     * @throws StoreException if there can't be a database
     */
    static SqliteFile prepare(Path file, boolean makesDirectory, Path proc) {
        Path absolute = file.toAbsolutePath().normalize();
        Path directory = absolute.getParent();
        if (directory == null || Files.isDirectory(absolute)) {
            throw denied(absolute + " is a directory; name a file in it", null);
        }
        try {
            if (makesDirectory) {
                Files.createDirectories(directory, permissions(directory, "rwx------"));
            } else if (!Files.isDirectory(directory)) {
                throw denied("the directory " + directory + " isn't there; make it, or name another file", null);
            }
            Path realDirectory = directory.toRealPath();
            Path real = realDirectory.resolve(absolute.getFileName());
            Optional<MountTable> mounts =
                    new ProcFs(proc).text("self/mountinfo").map(MountTable::new);
            mounts.ifPresent(table -> refuseShared(real, table));
            refuseDeletedInUse(real);
            make(realDirectory, real);
            Path path = real.toRealPath();
            mounts.ifPresent(table -> refuseMounted(path, table));
            refuseLinked(path);
            return new SqliteFile(absolute, path);
        } catch (AccessDeniedException e) {
            throw denied("this user may not use " + absolute + ": " + e.getMessage(), e);
        } catch (IOException e) {
            if (SqliteErrorCodes.lacksDescriptors()) {
                throw SqliteErrorCodes.noDescriptors(absolute, Effect.NONE, e);
            }
            throw denied("the file " + absolute + " can't be made or reached: " + e.getMessage(), e);
        }
    }

    private static void refuseShared(Path real, MountTable mounts) {
        Optional<String> type = mounts.sharedFileSystem(real);
        if (type.isPresent()) {
            throw denied(
                    "the file " + real + " is on a file system of the type " + type.get()
                            + ", which several machines may share; SQLite keeps its promises on a"
                            + " local disk only. Use a local file, or a store on a server",
                    null);
        }
    }

    // SQLite makes its log beside the name by which it opens the file. Who opens it by another name has another log, so
    // neither would see what the other has written. (https://www.sqlite.org/howtocorrupt.html, section 2.5)

    private static void refuseMounted(Path file, MountTable mounts) {
        if (mounts.isMountPoint(file)) {
            throw denied(
                    "the file " + file + " is mounted by itself, so what SQLite writes beside it is not seen where it"
                            + " comes from, and two would have one lock; mount its directory",
                    null);
        }
    }

    private static void refuseLinked(Path file) throws IOException {
        boolean counts = file.getFileSystem().supportedFileAttributeViews().contains("unix");
        if (counts && Files.getAttribute(file, "unix:nlink") instanceof Integer names && names > 1) {
            throw denied(
                    "the file " + file + " has " + names + " names (hard links), and who uses different ones does not"
                            + " see the locks of the others; delete the other names, or use symbolic links",
                    null);
        }
    }

    /**
     * A new file would have locks of its own. Those who use the old one show by a lock on its shared memory that they
     * are there.
     */
    private static void refuseDeletedInUse(Path file) throws IOException {
        Path sharedMemory = beside(file, "-shm");
        // In this order: beside a database others may make and delete it at any time.
        if (Files.exists(sharedMemory) && Files.notExists(file, LinkOption.NOFOLLOW_LINKS) && isInUse(file)) {
            throw denied(
                    "the file " + file + " was deleted while programs use it, and they may still hold its locks; stop"
                            + " all of them" + named(sharedMemory, USERS_BYTE, USERS_BYTE) + ", and start them again",
                    null);
        }
    }

    /** The processes that have a lock, as far as they can be seen. */
    private static String named(Path file, long first, long last) {
        ProcFs proc = new ProcFs(ProcFs.ROOT);
        String users =
                proc.lockOwners(file, first, last).stream().map(proc::describe).collect(Collectors.joining(", "));
        return users.isEmpty() ? "" : " (" + users + ")";
    }

    private static boolean isInUse(Path deleted) throws IOException {
        // Closing the shared memory would drop our own locks on it.
        if (DriverCopies.isEntered(deleted)) {
            return true;
        }
        try (FileChannel users = FileChannel.open(beside(deleted, "-shm"), StandardOpenOption.WRITE);
                FileLock none = users.tryLock(USERS_BYTE, 1, false)) {
            return none == null;
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private static void make(Path directory, Path file) throws IOException {
        synchronized (MAKING) {
            try {
                Files.createFile(file, permissions(directory, "rw-------"));
            } catch (FileAlreadyExistsException there) {
                if (!Files.isRegularFile(file)) {
                    throw denied(file + " is not a file", there);
                }
            }
        }
        if (!Files.isWritable(file) || !Files.isReadable(file) || !Files.isWritable(directory)) {
            throw denied(
                    "this user may not read and write " + file + " and make files beside it, as SQLite must", null);
        }
    }

    private static FileAttribute<?>[] permissions(Path near, String text) throws IOException {
        boolean posix = near.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))}
                : new FileAttribute<?>[0];
    }

    /**
     * To be called before it is opened as a database; {@link #leave} is called after it was closed.
     *
     * @throws StoreException if another copy of SQLite has it open in this process
     */
    void enter() {
        if (key == null) {
            return;
        }
        if (!DriverCopies.THIS.enter(key)) {
            throw denied(
                    "the file " + path + " is open in another application of this JVM, which has loaded SQLite's driver"
                            + " for itself, and two copies of it in one process damage a file. Put the driver where both"
                            + " applications load it from, or give each its own file",
                    null);
        }
        // By its name too, which may outlive it. Another copy may have entered an earlier file of that name.
        var unused = DriverCopies.THIS.enter(path);
    }

    /** It is closed, or could not be opened. */
    void leave() {
        if (key != null) {
            DriverCopies.THIS.leave(path);
            DriverCopies.THIS.leave(key);
        }
    }

    /** Where it is, without links. */
    Path path() {
        return path;
    }

    /** Where its write-ahead log is. */
    Path log() {
        return log;
    }

    /** Where its shared memory is. */
    Path sharedMemoryPath() {
        return sharedMemory;
    }

    /** The permissions for a directory beside it that the same users can use; empty where there are none. */
    Optional<Set<PosixFilePermission>> directoryPermissions() throws IOException {
        if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            return Optional.empty();
        }
        String text = PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
        StringBuilder directory = new StringBuilder("---------");
        for (int i = 0; i < directory.length(); i += 3) {
            if (text.startsWith("rw", i)) {
                directory.replace(i, i + 3, "rwx");
            }
        }
        return Optional.of(PosixFilePermissions.fromString(directory.toString()));
    }

    // SQLite keeps its locks in the shared memory, and makes a new one where it finds none. A process that does so
    // while others use the old one doesn't see their locks: both would write at the same time.

    /** Whether to open it would make a new shared memory, and with it other locks than those of whoever has it open. */
    boolean lacksSharedMemory() {
        return Files.notExists(sharedMemory) && path.toFile().length() > 0;
    }

    /** Says what to do if it lacks its shared memory and others have it open. */
    StoreException lacksSharedMemoryInUse() {
        return denied(
                "the file " + path + " is in use, and its shared memory, " + sharedMemory
                        + ", which has the locks of those who use it, was deleted; stop all programs that use the file"
                        + named(path, FIRST_SHARED_BYTE, LAST_SHARED_BYTE) + ", and start them again",
                null);
    }

    /** The shared memory that there is now; null where that can't be told. */
    @Nullable
    Object sharedMemory() {
        return keyNow(sharedMemory);
    }

    /**
     * To be called when it was opened as a database.
     *
     * @param before the shared memory that there was before
     * @return whether it is open with that, or with a new one if there was none
     */
    boolean isOpenWith(@Nullable Object before) {
        sharedMemoryKey = sharedMemory();
        return sharedMemoryKey != GONE && (before == GONE || Objects.equals(before, sharedMemoryKey));
    }

    /**
     * Checks that the shared memory is the one that we have open. One {@code stat}: cheap enough for each trip.
     *
     * @throws DatabaseReplacedException if it was deleted or replaced
     */
    void checkSharedMemory() throws DatabaseReplacedException {
        if (!Objects.equals(sharedMemoryKey, sharedMemory())) {
            check(); // says more if it was not alone
            throw lost("lost its shared memory, " + sharedMemory + ",");
        }
    }

    /**
     * Checks that the file at the path is the one that we have open, and so is its log. Called by one thread at a time.
     *
     * @throws DatabaseReplacedException if one of them was deleted or replaced
     */
    void check() throws DatabaseReplacedException {
        Object now = keyNow(named);
        if (now == GONE) {
            throw lost("was deleted");
        } else if (key != null && !key.equals(now)) {
            throw lost("was replaced by another one");
        }
        // Nobody deletes the log of a database that somebody has open, unless by hand.
        Object logNow = keyNow(log);
        if (logKey == null) {
            logKey = logNow == GONE ? null : logNow;
        } else if (!logKey.equals(logNow)) {
            throw lost("lost its log, " + log + ",");
        }
    }

    /** What tells a file from every other one, {@link #GONE} if it isn't there, and null where that can't be told. */
    private static @Nullable Object keyNow(Path file) {
        try {
            return keyOf(file);
        } catch (NoSuchFileException e) {
            return GONE;
        } catch (IOException e) {
            throw new StoreException(
                    Reason.UNAVAILABLE, Effect.NONE, "the file " + file + " can't be reached: " + e.getMessage(), e);
        }
    }

    private DatabaseReplacedException lost(String what) {
        return new DatabaseReplacedException(denied(
                "the file " + path + " " + what
                        + " while it was in use, so what is recorded here says nothing about who holds a lock; stop all"
                        + " programs that use it, and start them again",
                null));
    }

    /**
     * Makes it, its log and its shared memory look used, for cleaners that go by age: the time of a file does not
     * change with what is written to it through shared memory. Files of another user stay as they are.
     *
     * <p>By {@code java.io.File}, which changes the time at a path: {@code Files} opens the file for that, and to close
     * it again would drop SQLite's locks.
     */
    void touch(long unixMillis) {
        for (Path each : List.of(path, log, sharedMemory)) {
            touch(each, unixMillis);
        }
    }

    static void touch(Path path, long unixMillis) {
        if (!path.toFile().setLastModified(unixMillis)) {
            LOG.debug("file={} its time can't be set", path);
        }
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private static StoreException denied(String message, @Nullable Exception cause) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, cause);
    }
}
