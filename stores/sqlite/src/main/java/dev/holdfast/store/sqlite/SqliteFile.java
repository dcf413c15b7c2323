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
 * The database file: created with private permissions, and checked regularly, so that a file that was deleted or
 * replaced is never trusted.
 *
 * <p>SQLite's locks on the file belong to the process, and closing <em>any</em> descriptor of it drops them all. So
 * nothing here opens the file, except to create it.
 */
final class SqliteFile {

    private static final Logger LOG = LoggerFactory.getLogger(SqliteFile.class);

    // Two stores in one process may open at once: the one that creates the file must close it before the other opens
    // it. A string literal is the same object in all class loaders.
    private static final Object MAKING = "dev.holdfast.store.sqlite.making";

    private static final Object GONE = new Object();

    /** The byte of the shared memory on which all users have a lock, in SQLite's terms UNIX_SHM_DMS. */
    static final long USERS_BYTE = 128;

    /** The first of the bytes of the database on which all users have locks. */
    static final long FIRST_SHARED_BYTE = 0x40000002L;

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
     * Prepares a file to be opened as a database, and creates it if it is missing. An existing file is not touched.
     *
     * @param makesDirectory whether a missing directory is created too
     * @throws StoreException if there can be no database
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
                throw denied("the directory " + directory + " does not exist; create it, or name another file", null);
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
            throw denied("the file " + absolute + " can't be created or opened: " + e.getMessage(), e);
        }
    }

    private static void refuseShared(Path real, MountTable mounts) {
        Optional<String> type = mounts.sharedFileSystem(real);
        if (type.isPresent()) {
            throw denied(
                    "the file " + real + " is on a file system of type " + type.get()
                            + ", which several machines may share; SQLite locks reliably only on a local "
                            + "disk. Use a local file, or a store on a server",
                    null);
        }
    }

    // SQLite names its log after the name by which it opens the file. Processes that use different names have different
    // logs and do not see each other's writes. (https://www.sqlite.org/howtocorrupt.html, section 2.5)

    private static void refuseMounted(Path file, MountTable mounts) {
        if (mounts.isMountPoint(file)) {
            throw denied(
                    "the file " + file + " is mounted as a single file, so other programs can't see the files that "
                            + "SQLite keeps next to it, and two could hold the same lock; mount its directory",
                    null);
        }
    }

    private static void refuseLinked(Path file) throws IOException {
        boolean counts = file.getFileSystem().supportedFileAttributeViews().contains("unix");
        if (counts && Files.getAttribute(file, "unix:nlink") instanceof Integer names && names > 1) {
            throw denied(
                    "the file " + file + " has " + names
                            + " names (hard links), and programs that use different names don't see each "
                            + "other's locks; delete the other names, or use symbolic links",
                    null);
        }
    }

    /**
     * Refuses to create the file while a deleted one is in use, because the new one would have separate locks. Users of
     * the old file have a lock on its shared memory.
     */
    private static void refuseDeletedInUse(Path file) throws IOException {
        Path sharedMemory = beside(file, "-shm");
        // In this order, because with a database others may create and delete the shared memory at any time.
        if (Files.exists(sharedMemory) && Files.notExists(file, LinkOption.NOFOLLOW_LINKS) && isInUse(file)) {
            throw denied(
                    "the file " + file + " was deleted while programs use it, and they may still hold its locks; stop "
                            + "all of these programs" + named(sharedMemory, USERS_BYTE, USERS_BYTE)
                            + ", then start them again",
                    null);
        }
    }

    /** The visible processes that have a lock. */
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
                    "this user may not read and write " + file + " and create files next to it, as SQLite must", null);
        }
    }

    private static FileAttribute<?>[] permissions(Path near, String text) throws IOException {
        boolean posix = near.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(text))}
                : new FileAttribute<?>[0];
    }

    /**
     * Called before the file is opened as a database; {@link #leave} is called after it was closed.
     *
     * @throws StoreException if another copy of SQLite has it open in this process
     */
    void enter() {
        if (key == null) {
            return;
        }
        if (!DriverCopies.THIS.enter(key)) {
            throw denied(
                    "the file " + path
                            + " is open in another application of this JVM, which has loaded its own copy of "
                            + "SQLite's driver, and two copies of the driver in one process damage a file. "
                            + "Put the driver where both applications load it from, or give each application "
                            + "its own file",
                    null);
        }
        // By its name too, which may outlast it. Another copy may have entered an earlier file with that name.
        var unused = DriverCopies.THIS.enter(path);
    }

    /** Called when the file was closed or could not be opened. */
    void leave() {
        if (key != null) {
            DriverCopies.THIS.leave(path);
            DriverCopies.THIS.leave(key);
        }
    }

    /** The path of the file, without links. */
    Path path() {
        return path;
    }

    /** The path of its write-ahead log. */
    Path log() {
        return log;
    }

    /** The path of its shared memory. */
    Path sharedMemoryPath() {
        return sharedMemory;
    }

    /** The permissions of a directory for the same users; empty on systems without POSIX permissions. */
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

    // SQLite keeps its locks in the shared memory, and creates it if it is missing. A process that does so while others
    // use the old one does not see their locks, so both could write at the same time.

    /** Whether opening the file would create new shared memory, with locks separate from those of present users. */
    boolean lacksSharedMemory() {
        return Files.notExists(sharedMemory) && path.toFile().length() > 0;
    }

    /** The failure if the shared memory is missing while others have the file open. */
    StoreException lacksSharedMemoryInUse() {
        return denied(
                "the file " + path + " is in use, and its shared memory, " + sharedMemory
                        + ", which coordinates the programs that use it, was deleted; stop all programs that "
                        + "use the file" + named(path, FIRST_SHARED_BYTE, LAST_SHARED_BYTE) + ", then start them again",
                null);
    }

    /** The identity of the present shared memory; null if it cannot be determined. */
    @Nullable
    Object sharedMemory() {
        return keyNow(sharedMemory);
    }

    /**
     * Called when the file was opened as a database.
     *
     * @param before the shared memory before that
     * @return whether it is open with that one, or with a new one if there was none
     */
    boolean isOpenWith(@Nullable Object before) {
        sharedMemoryKey = sharedMemory();
        return sharedMemoryKey != GONE && (before == GONE || Objects.equals(before, sharedMemoryKey));
    }

    /**
     * Checks that the shared memory is the one that we have open. One {@code stat}: cheap enough for each batch.
     *
     * @throws DatabaseReplacedException if it was deleted or replaced
     */
    void checkSharedMemory() throws DatabaseReplacedException {
        if (!Objects.equals(sharedMemoryKey, sharedMemory())) {
            check(); // a more specific failure if the file is gone too
            throw lost("lost its shared memory, " + sharedMemory + ",");
        }
    }

    /**
     * Checks that the file and its log are the ones that we have open. Called by one thread at a time.
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
        // SQLite never deletes the log of an open database.
        Object logNow = keyNow(log);
        if (logKey == null) {
            logKey = logNow == GONE ? null : logNow;
        } else if (!logKey.equals(logNow)) {
            throw lost("lost its log, " + log + ",");
        }
    }

    /** The identity of a file; {@link #GONE} if it is missing, and null if it cannot be determined. */
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
                        + " while it was in use, so its records don't show who holds a lock; stop "
                        + "all programs that use the file, then start them again",
                null));
    }

    /**
     * Updates the modification times of the file, its log and its shared memory, for cleaners that go by age: writes
     * through mapped memory do not change the time. Files of another user stay unchanged.
     *
     * <p>Uses {@code java.io.File}, which changes the time by path: {@code Files} would open the file, and closing it
     * would drop SQLite's locks.
     */
    void touch(long unixMillis) {
        for (Path each : List.of(path, log, sharedMemory)) {
            touch(each, unixMillis);
        }
    }

    static void touch(Path path, long unixMillis) {
        if (!path.toFile().setLastModified(unixMillis)) {
            LOG.debug("file={} its modification time can't be set", path);
        }
    }

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private static StoreException denied(String message, @Nullable Exception cause) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, cause);
    }
}
