package dev.holdfast.store.sqlite;

import dev.holdfast.spi.StoreException;
import dev.holdfast.spi.StoreException.Effect;
import dev.holdfast.spi.StoreException.Reason;
import dev.holdfast.store.sqlite.process.MountTable;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The database file: made private from its first moment, and watched, so that a file that was deleted or replaced under
 * us is never taken for the truth.
 *
 * <p>SQLite's locks on the file belong to the process, and closing <em>any</em> descriptor of it drops them all. So
 * nothing here opens the file, but to make it.
 */
final class SqliteFile {

    // Two stores in one process might be opened at once: the one that makes the file must have closed it before the
    // other opens it. A literal is one object for all class loaders.
    private static final Object MAKING = "dev.holdfast.store.sqlite.making";

    private static final Object GONE = new Object();

    private final Path path;
    private final Path log;
    private final @Nullable Object key;
    private @Nullable Object logKey;

    private SqliteFile(Path path) throws IOException {
        this.path = path;
        this.log = path.resolveSibling(path.getFileName() + "-wal");
        this.key = keyOf(path);
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
            make(realDirectory, real);
            Path named = real.toRealPath();
            mounts.ifPresent(table -> refuseMounted(named, table));
            refuseLinked(named);
            return new SqliteFile(named);
        } catch (AccessDeniedException e) {
            throw denied("this user may not use " + absolute + ": " + e.getMessage(), e);
        } catch (IOException e) {
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
        if (key != null && !DriverCopies.THIS.enter(key)) {
            throw denied(
                    "the file " + path + " is open in another application of this JVM, which has loaded SQLite's driver"
                            + " for itself, and two copies of it in one process damage a file. Put the driver where both"
                            + " applications load it from, or give each its own file",
                    null);
        }
    }

    /** It is closed, or could not be opened. */
    void leave() {
        if (key != null) {
            DriverCopies.THIS.leave(key);
        }
    }

    /** Where it is, without links. */
    Path path() {
        return path;
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

    /**
     * Checks that the file at the path is the one that we have open, and so is its log. Called by one thread at a time.
     *
     * @throws Gone if one of them was deleted or replaced
     */
    void check() throws DatabaseReplacedException {
        Object now = keyNow(path);
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

    private static @Nullable Object keyOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }

    private static StoreException denied(String message, @Nullable Exception cause) {
        return new StoreException(Reason.DENIED, Effect.NONE, message, cause);
    }
}
