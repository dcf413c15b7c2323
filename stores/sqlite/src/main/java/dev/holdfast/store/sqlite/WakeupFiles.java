package dev.holdfast.store.sqlite;

import dev.holdfast.spi.Signal;
import dev.holdfast.store.ledger.runtime.NamedThreadFactory;
import dev.holdfast.store.ledger.runtime.SignalCodec;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wake-ups between processes: each store instance has a file of its own beside the database, to which the others append
 * a line, and the kernel notifies the owner of the change. Nobody writes to it when nobody waits.
 *
 * <p>All of it is a hint. After a failure a waiter polls a little later.
 */
final class WakeupFiles implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(WakeupFiles.class);

    private static final String DIRECTORY = "-wake";
    private static final String MAIL = "mail";

    /** What was read is thrown away when it is as large as this. */
    private static final long MAX_MAIL_BYTES = 256 * 1024;

    private final SqliteFile file;
    private final Path directory;
    private final Path own;
    private final Consumer<Signal> receiving;
    private final boolean works;
    private final NamedThreadFactory threads;
    private @Nullable WatchService watch;
    private boolean closed;

    /**
     * Does nothing yet.
     *
     * @param works whether the kernel tells of changes at once; if not, nobody listens here
     * @param threads where the thread comes from that listens
     * @param receiving is given what others tell, on a thread of its own
     */
    WakeupFiles(SqliteFile file, long client, boolean works, NamedThreadFactory threads, Consumer<Signal> receiving) {
        this.file = file;
        this.directory = Path.of(file.path() + DIRECTORY);
        this.own = directory.resolve(Long.toHexString(client));
        this.works = works;
        this.threads = threads;
        this.receiving = receiving;
    }

    /** Begins to listen, once. */
    synchronized void listen() {
        if (!works || closed || watch != null) {
            return;
        }
        try {
            makeDirectory(directory);
            makeDirectory(own);
            Path mail = own.resolve(MAIL);
            if (!Files.exists(mail)) {
                Files.createFile(mail);
            }
            if (file.directoryPermissions().isPresent()) {
                Files.setPosixFilePermissions(mail, Files.getPosixFilePermissions(file.path()));
            }
            watch = listen(mail);
        } catch (IOException e) {
            // Too many watches, or a directory that we may not write: we poll.
            LOG.debug("file={} hints of other processes can't be received: {}", file.path(), e.toString());
            closed = true;
        } catch (RuntimeException | Error e) {
            // It may be had with the next keep-alive; until then we poll.
            LOG.error("file={} nobody listens for hints of other processes", file.path(), e);
        }
    }

    /** Whether others can tell us something. */
    synchronized boolean isListening() {
        return watch != null && !closed;
    }

    private WatchService listen(Path mail) throws IOException {
        WatchService service = own.getFileSystem().newWatchService();
        try {
            own.register(service, StandardWatchEventKinds.ENTRY_MODIFY, StandardWatchEventKinds.ENTRY_CREATE);
            threads.make(() -> receive(service, mail), "holdfast-sqlite-wakes").start();
            return service;
        } catch (IOException | RuntimeException | Error e) {
            service.close();
            throw e;
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

    /** Tells another store instance, if it listens. */
    void tell(long client, Signal signal) {
        Path mail = directory.resolve(Long.toHexString(client)).resolve(MAIL);
        // Opened for appending and written at once, so that the lines of several writers don't mix. A stream: an
        // interrupt must not close it.
        try (OutputStream out = new FileOutputStream(mail.toFile(), true)) {
            out.write((SignalCodec.of(signal) + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException notListening) {
            LOG.trace("client={} does not listen: {}", client, notListening.toString());
        } catch (RuntimeException | Error e) {
            LOG.error("client={} could not be given a hint; it finds out for itself", client, e);
        }
    }

    private void receive(WatchService service, Path mail) {
        try {
            while (true) {
                WatchKey key = service.take();
                key.pollEvents();
                receive(mail);
                if (!key.reset()) {
                    return;
                }
            }
        } catch (ClosedWatchServiceException | InterruptedException ended) {
            LOG.trace("file={} no more hints", file.path());
        }
    }

    private void receive(Path mail) {
        try {
            for (String line : read(mail)) {
                SignalCodec.signal(line).ifPresent(receiving);
            }
        } catch (RuntimeException | Error e) {
            LOG.error("file={} a hint of another process was lost", file.path(), e);
        }
    }

    private long read;

    /** The whole lines that are new. */
    private List<String> read(Path mail) {
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
                truncate(mail);
            }
        } catch (IOException e) {
            LOG.debug("file={} hints of other processes can't be read: {}", file.path(), e.toString());
        }
        return lines;
    }

    private void truncate(Path mail) throws IOException {
        try (FileOutputStream empty = new FileOutputStream(mail.toFile())) {
            empty.flush();
        }
        read = 0;
    }

    /**
     * Removes what store instances have left that are not there any more.
     *
     * @param before what was made after that moment may belong to one that is just beginning
     */
    void clean(Instant before, LongPredicate isKnown) {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                boolean isOld = Files.getLastModifiedTime(entry).toInstant().isBefore(before);
                if (isOld && !isKnown.test(Long.parseUnsignedLong(name, 16))) {
                    Files.deleteIfExists(entry.resolve(MAIL));
                    Files.deleteIfExists(entry);
                }
            }
        } catch (IOException | NumberFormatException e) {
            LOG.debug("file={} what other processes have left can't be removed: {}", file.path(), e.toString());
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        WatchService service = watch;
        if (service == null) {
            return;
        }
        try {
            service.close();
            Files.deleteIfExists(own.resolve(MAIL));
            Files.deleteIfExists(own);
        } catch (IOException e) {
            LOG.debug("file={} hints of other processes leave a directory behind: {}", file.path(), e.toString());
        }
    }
}
