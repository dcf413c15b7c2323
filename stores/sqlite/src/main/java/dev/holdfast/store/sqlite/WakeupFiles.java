package dev.holdfast.store.sqlite;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalCodec;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Notifications between processes: each store instance has a file next to the database, to which others append lines,
 * and the kernel notifies the owner of the change. Nothing is written while no claim waits.
 *
 * <p>Notifications are only hints. After a failure, waiters poll a little later.
 */
final class WakeupFiles implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WakeupFiles.class);

    private static final String DIRECTORY = "-wake";
    private static final String MAIL = "mail";

    /** The name of the file that identifies the process of the directory. */
    private static final String OWNER = "owner";

    /** The file is truncated once this much of it was read. */
    private static final long MAX_MAIL_BYTES = 256 * 1024;

    private final SqliteFile file;
    private final Path directory;
    private final Path own;
    private final Path mail;
    private final String owner;
    private final Consumer<Signal> receiving;
    private final boolean works;
    private final NamedThreadFactory threads;

    /** Null while this instance is not listening. */
    @GuardedBy("this")
    private @Nullable WatchService watchService;

    @GuardedBy("this")
    private boolean closed;

    /** Whether the log says already that this instance can't listen; each keep-alive tries again. */
    @GuardedBy("this")
    private boolean warned;

    /**
     * Does no I/O yet.
     *
     * @param owner identifies this process, for {@link #clean}
     * @param works whether the kernel reports changes at once; otherwise this instance does not listen
     * @param threads creates the listening thread
     * @param receiving receives the signals of others, on that thread
     */
    WakeupFiles(
            SqliteFile file,
            long client,
            String owner,
            boolean works,
            NamedThreadFactory threads,
            Consumer<Signal> receiving) {
        this.file = file;
        this.directory = Path.of(file.path() + DIRECTORY);
        this.own = directory.resolve(Long.toHexString(client));
        this.mail = own.resolve(MAIL);
        this.owner = owner;
        this.works = works;
        this.threads = threads;
        this.receiving = receiving;
    }

    /**
     * Starts listening, or starts again if the files were deleted, for example by a cleaner. Called with each
     * keep-alive.
     */
    synchronized void listen() {
        if (!works || closed || (watchService != null && Files.exists(mail))) {
            return;
        }
        stopListening();
        try {
            makeDirectory(directory);
            makeDirectory(own);
            Files.writeString(own.resolve(OWNER), owner);
            if (!Files.exists(mail)) {
                Files.createFile(mail);
            }
            if (file.directoryPermissions().isPresent()) {
                Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file.path());
                Files.setPosixFilePermissions(mail, permissions);
                Files.setPosixFilePermissions(own.resolve(OWNER), permissions);
            }
            watchService = newWatchService();
            warned = false;
        } catch (IOException e) {
            // Too many watches, or the directory is not writable: waiters poll, and the next keep-alive retries.
            LOG.atLevel(warned ? Level.DEBUG : Level.WARN)
                    .log(
                            "file={} wake-ups from other processes can't be received, so waiters poll instead, which is"
                                    + " slower; check who may write to {}, and the limits of inotify: {}",
                            file.path(),
                            directory,
                            e.toString());
            warned = true;
        } catch (RuntimeException | Error e) {
            LOG.error("file={} the listener for wake-ups from other processes failed", file.path(), e);
        }
    }

    /** Whether others can notify us. */
    synchronized boolean isListening() {
        return watchService != null;
    }

    private WatchService newWatchService() throws IOException {
        WatchService service = own.getFileSystem().newWatchService();
        try {
            own.register(
                    service,
                    StandardWatchEventKinds.ENTRY_MODIFY,
                    StandardWatchEventKinds.ENTRY_CREATE,
                    StandardWatchEventKinds.ENTRY_DELETE);
            Receiver receiver = new Receiver(service);
            threads.make(receiver::run, "holdfast-sqlite-wakes").start();
            return service;
        } catch (IOException | RuntimeException | Error e) {
            service.close();
            throw e;
        }
    }

    @GuardedBy("this")
    private void stopListening() {
        WatchService service = watchService;
        watchService = null;
        if (service != null) {
            try {
                service.close();
            } catch (IOException e) {
                LOG.debug("file={} a watch can't be ended: {}", file.path(), e.toString());
            }
        }
    }

    /** The files of this watch were deleted. Waiters poll until they are created again. */
    private synchronized void lose(WatchService service) {
        if (watchService == service) {
            stopListening();
        }
    }

    private void makeDirectory(Path made) throws IOException {
        if (!Files.isDirectory(made)) {
            Files.createDirectory(made);
            Optional<Set<PosixFilePermission>> permissions = file.directoryPermissions();
            if (permissions.isPresent()) {
                Files.setPosixFilePermissions(made, permissions.get());
            }
        }
    }

    /** Notifies another store instance, if it is listening. */
    void send(long client, Signal signal) {
        Path others = directory.resolve(Long.toHexString(client)).resolve(MAIL);
        if (!Files.exists(others)) {
            // Not created here: its owner creates it again with the right permissions.
            LOG.trace("client={} does not listen", client);
            return;
        }
        // Opened for appending and written in one call, so that lines of several writers do not mix. A stream, because
        // an interrupt would close a channel.
        try (OutputStream out = new FileOutputStream(others.toFile(), true)) {
            out.write((SignalCodec.of(signal) + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException notListening) {
            LOG.trace("client={} does not listen: {}", client, notListening.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("client={} could not be woken; it will find the change by polling", client, e);
        }
    }

    /** Reads the file of one watch. */
    private final class Receiver {
        private final WatchService service;
        private long read;

        Receiver(WatchService service) {
            this.service = service;
        }

        void run() {
            try {
                boolean isThere = true;
                while (isThere) {
                    WatchKey key = service.take();
                    key.pollEvents();
                    receive();
                    isThere = key.reset() && Files.exists(mail);
                }
                lose(service);
            } catch (ClosedWatchServiceException | InterruptedException ended) {
                LOG.trace("file={} wake-ups end", file.path());
            }
        }

        private void receive() {
            try {
                for (String line : lines()) {
                    SignalCodec.signal(line).ifPresent(receiving);
                }
            } catch (RuntimeException | Error e) {
                LOG.error("file={} a wake-up from another process was lost", file.path(), e);
            }
        }

        /** The new complete lines. */
        private List<String> lines() {
            List<String> lines = new ArrayList<>();
            try (RandomAccessFile in = new RandomAccessFile(mail.toFile(), "r")) {
                long length = in.length();
                if (length <= read) {
                    return lines;
                }
                byte[] bytes = new byte[(int) Math.min(length - read, MAX_MAIL_BYTES)];
                in.seek(read);
                in.readFully(bytes);
                int begin = 0;
                for (int i = 0; i < bytes.length; i++) {
                    if (bytes[i] == '\n') {
                        lines.add(new String(bytes, begin, i - begin, StandardCharsets.US_ASCII));
                        begin = i + 1;
                    }
                }
                read += begin;
                if (read > MAX_MAIL_BYTES && read == length) {
                    truncate();
                }
            } catch (IOException e) {
                LOG.debug("file={} wake-ups from other processes can't be read: {}", file.path(), e.toString());
            }
            return lines;
        }

        private void truncate() throws IOException {
            try (FileOutputStream empty = new FileOutputStream(mail.toFile())) {
                empty.flush();
            }
            read = 0;
        }
    }

    /** Updates the modification times of our files, for cleaners that go by age. */
    synchronized void touch(long unixMillis) {
        if (watchService != null) {
            for (Path each : List.of(mail, own.resolve(OWNER), own, directory)) {
                SqliteFile.touch(each, unixMillis);
            }
        }
    }

    /**
     * Removes the files of store instances whose process has ended, and, if that is unknown, of those that no longer
     * have a row. A live instance without a row creates its files again.
     *
     * @param before newer files may belong to an instance that is just starting
     */
    void clean(Instant before, Predicate<String> hasEnded, LongPredicate isKnown) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                if (!entry.equals(own) && isLeft(entry, before, hasEnded, isKnown)) {
                    delete(entry);
                }
            }
        } catch (IOException | DirectoryIteratorException | NumberFormatException e) {
            LOG.debug("file={} files left by other processes can't be removed: {}", file.path(), e.toString());
        }
    }

    private static boolean isLeft(Path entry, Instant before, Predicate<String> hasEnded, LongPredicate isKnown)
            throws IOException {
        try {
            if (hasEnded.test(Files.readString(entry.resolve(OWNER)))) {
                return true;
            }
        } catch (NoSuchFileException | MalformedInputException notThere) {
            LOG.trace("entry={} has no owner", entry);
        }
        return Files.getLastModifiedTime(entry).toInstant().isBefore(before)
                && !isKnown.test(Long.parseUnsignedLong(entry.getFileName().toString(), 16));
    }

    private static void delete(Path entry) throws IOException {
        Files.deleteIfExists(entry.resolve(MAIL));
        Files.deleteIfExists(entry.resolve(OWNER));
        Files.deleteIfExists(entry);
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (watchService == null) {
            return;
        }
        stopListening();
        try {
            delete(own);
        } catch (IOException e) {
            LOG.debug("file={} the directory for wake-ups can't be removed: {}", file.path(), e.toString());
        }
    }
}
