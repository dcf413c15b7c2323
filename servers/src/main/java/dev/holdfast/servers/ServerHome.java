package dev.holdfast.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The directories of servers: one for the servers of this JVM, which is deleted with it, and one for unpacked binaries
 * and empty databases, which stays. The next JVM removes files and processes of a JVM that was killed.
 */
public final class ServerHome {

    private static final Path ROOT =
            Path.of(System.getProperty("java.io.tmpdir"), "holdfast-servers-" + System.getProperty("user.name"));
    private static final Path HERE = ROOT.resolve("jvm-" + identity(ProcessHandle.current()));
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Set<ServerProcess> RUNNING = ConcurrentHashMap.newKeySet();

    /** Ports that were tried, and the files whose locks keep those that were had. */
    private static final Set<Integer> PORTS = new HashSet<>();

    private static final List<FileChannel> LOCKS = new ArrayList<>();

    static {
        clearLeftovers();
        Runtime.getRuntime().addShutdownHook(new Thread(ServerHome::leave, "holdfast-servers-end"));
    }

    private ServerHome() {}

    /** A new directory for a server, or for a database that is a file. */
    public static Path directory(String name) {
        try {
            return Files.createDirectories(HERE.resolve(name + "-" + COUNT.incrementAndGet()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A file shared by all JVMs. */
    static Path shared(String name) {
        try {
            return Files.createDirectories(ROOT).resolve(name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a port is this JVM's from now on: of the JVMs of one user, only one has a lock on its file. */
    @SuppressWarnings("resource") // the lock lasts as long as the JVM
    static synchronized boolean reserve(int port) {
        if (!PORTS.add(port)) {
            return false;
        }
        try {
            Path file = Files.createDirectories(ROOT.resolve("ports")).resolve(Integer.toString(port));
            FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (channel.tryLock() == null) {
                channel.close();
                return false;
            }
            LOCKS.add(channel);
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The executable of this name among the resources, unpacked once for all JVMs. */
    static Path executable(String resource) {
        Path target = ROOT.resolve("bin").resolve(resource);
        if (Files.isExecutable(target)) {
            return target;
        }
        try (InputStream in = ServerHome.class.getResourceAsStream("/" + resource)) {
            if (in == null) {
                throw new IllegalStateException("There is no server for this machine: no resource " + resource);
            }
            Files.createDirectories(target.getParent());
            Path part = Files.createTempFile(target.getParent(), resource, ".part");
            Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
            Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwxr-xr-x"));
            try {
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } catch (AtomicMoveNotSupportedException e) {
                Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
            }
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes the content of a directory that is new and empty. */
    interface Maker {
        void make(Path directory) throws IOException;
    }

    /** The directory of this name that stays, made once for all JVMs. */
    static Path made(String name, Maker maker) {
        Path target = ROOT.resolve("bin").resolve(name);
        if (Files.isDirectory(target)) {
            return target;
        }
        try {
            Files.createDirectories(target.getParent());
            Path part = directory(name); // of this JVM, so that it is cleared away if this JVM ends half-way
            maker.make(part);
            try {
                Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
            } catch (FileSystemException e) {
                if (!Files.isDirectory(target)) {
                    throw e;
                }
                // Another JVM was faster.
            }
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Notes a process, so that it ends with this JVM, or is found by the next one. */
    static void entered(ServerProcess process, Path directory) {
        RUNNING.add(process);
        try {
            Files.writeString(directory.resolve("process"), identity(process.handle()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void left(ServerProcess process) {
        RUNNING.remove(process);
    }

    private static void leave() {
        RUNNING.forEach(ServerProcess::kill);
        Trees.delete(HERE);
    }

    /** The pid alone may be another process by now; with the start it is not. */
    private static String identity(ProcessHandle handle) {
        return handle.pid() + "-"
                + handle.info()
                        .startInstant()
                        .map(start -> start.toEpochMilli())
                        .orElse(0L);
    }

    private static Optional<ProcessHandle> alive(String identity) {
        try {
            return ProcessHandle.of(Long.parseLong(identity.substring(0, identity.indexOf('-'))))
                    .filter(handle -> identity(handle).equals(identity));
        } catch (NumberFormatException | StringIndexOutOfBoundsException e) {
            return Optional.empty();
        }
    }

    private static void clearLeftovers() {
        for (Path jvm : list(ROOT)) {
            String name = jvm.getFileName().toString();
            if (!name.startsWith("jvm-")
                    || alive(name.substring("jvm-".length())).isPresent()) {
                continue;
            }
            for (Path server : list(jvm)) {
                try {
                    alive(Files.readString(server.resolve("process"))).ifPresent(ProcessHandle::destroyForcibly);
                } catch (IOException e) {
                    // It never started, or another JVM clears the same.
                }
            }
            Trees.delete(jvm);
        }
    }

    private static List<Path> list(Path directory) {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
