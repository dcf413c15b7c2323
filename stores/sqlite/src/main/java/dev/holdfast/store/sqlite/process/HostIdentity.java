package dev.holdfast.store.sqlite.process;

import dev.holdfast.spi.StoreException;
import dev.holdfast.store.sqlite.process.ProcFs.Incarnation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The identity of this process on its host, and the clock that it shares with others, as far as they can be determined.
 *
 * @param boot identifies the host's boot, and with it the clock of deadlines; {@link #WALL} if there is none
 * @param pidNamespace the namespace of process numbers; empty if processes cannot be observed
 * @param timeNamespace the namespace of process start times
 * @param user the user of this process; empty if unknown
 * @param self this process
 * @param monotonicOffsetNanos how far this process's monotonic clock is ahead of the host's, because of a time
 *     namespace
 * @param hidesOthers whether the processes of other users may be invisible
 */
public record HostIdentity(
        String boot,
        String pidNamespace,
        String timeNamespace,
        String user,
        Incarnation self,
        long monotonicOffsetNanos,
        boolean hidesOthers) {

    /** Used instead of a boot: deadlines use the wall clock. */
    public static final String WALL = "wall";

    private static final String BOOT = "sys/kernel/random/boot_id";

    private static final Incarnation NOBODY = new Incarnation(0, 0);

    /**
     * The identity on a system without {@code /proc}: deadlines use the wall clock, and the end of a process cannot be
     * observed.
     */
    public static HostIdentity unknown() {
        return new HostIdentity(WALL, "", "", "", NOBODY, 0, true);
    }

    /** Whether processes can be observed at all. */
    public boolean observes() {
        return !pidNamespace.isEmpty();
    }

    /** Whether deadlines use the clock since the host's boot. */
    public boolean hasBootClock() {
        return !boot.equals(WALL);
    }

    /**
     * Determines the identity of this process.
     *
     * @param nanoTime the JVM's monotonic clock, read just now
     * @throws StoreException if this process has a separate clock that cannot be compared with that of others
     */
    public static HostIdentity of(Path proc, long nanoTime) {
        ProcFs files = new ProcFs(proc);
        Optional<String> boot = line(proc, BOOT);
        // Some sandboxes return a new one to each reader.
        if (boot.isEmpty() || !boot.equals(line(proc, BOOT))) {
            return unknown();
        }
        String timeNamespace = files.link("self/ns/time").orElse("");
        long offset = offset(files, timeNamespace, "monotonic");
        if (!isMonotonic(line(proc, "uptime"), nanoTime - offset, offset(files, timeNamespace, "boottime"))) {
            return unknown();
        }
        Optional<Incarnation> self = self(files);
        Optional<String> pidNamespace = self.isEmpty() ? Optional.empty() : files.link("self/ns/pid");
        boolean hidesOthers = files.text("self/mountinfo")
                .map(text -> new MountTable(text).hidesProcesses(proc))
                .orElse(true);
        return new HostIdentity(
                boot.get(),
                pidNamespace.orElse(""),
                timeNamespace,
                user(files),
                self.orElse(NOBODY),
                offset,
                hidesOthers);
    }

    /**
     * The first line of a file; empty if there is none, or this user may not read it.
     *
     * @throws StoreException if it cannot be read for another reason: using another clock than the other users of a
     *     file would be unsafe
     */
    private static Optional<String> line(Path proc, String file) {
        Optional<String> line = new ProcFs(proc).line(file);
        if (line.isEmpty() && Files.isReadable(proc.resolve(file))) {
            throw new StoreException(
                    StoreException.Reason.UNAVAILABLE,
                    StoreException.Effect.NONE,
                    proc.resolve(file) + " can't be read; this process or the machine may have no free file descriptor",
                    null);
        }
        return line;
    }

    // The numbers in a proc file system are from the namespace for which it was mounted, which may not be ours.
    private static Optional<Incarnation> self(ProcFs files) {
        long pid = ProcessHandle.current().pid();
        return files.link("self")
                .filter(link -> link.equals(Long.toString(pid)))
                .flatMap(link -> files.find(pid));
    }

    private static String user(ProcFs files) {
        // Loops here and below: each start of the command comes here, and the first stream of a JVM takes long.
        for (String line : files.text("self/status").orElse("").split("\n", -1)) {
            if (line.startsWith("Uid:")) {
                return line.split("\\s+", -1)[1];
            }
        }
        return "";
    }

    /**
     * How far a clock of our time namespace is ahead of the host's. Kernels without time namespaces have no such files.
     *
     * <p>The file contains the offsets of the namespace for children, which are ours only if that is our own namespace.
     */
    private static long offset(ProcFs files, String timeNamespace, String clock) {
        if (timeNamespace.isEmpty()) {
            return 0;
        }
        if (!files.link("self/ns/time_for_children").equals(Optional.of(timeNamespace))) {
            throw incomparable();
        }
        for (String line : files.text("self/timens_offsets").orElse("").split("\n", -1)) {
            String[] fields = line.strip().split("\\s+", -1);
            if (fields.length == 3 && fields[0].equals(clock)) {
                return Long.parseLong(fields[1]) * 1_000_000_000L + Long.parseLong(fields[2]);
            }
        }
        throw incomparable();
    }

    private static StoreException incomparable() {
        return new StoreException(
                StoreException.Reason.DENIED,
                StoreException.Effect.NONE,
                "this process runs in a time namespace whose offset can't be read, so its clock can't be compared"
                        + " with that of the other users of the file; run it in the time namespace of the machine",
                null);
    }

    /**
     * Whether the JVM's clock can be the kernel's monotonic one, which stops while the host is suspended, so it is
     * never ahead of the uptime. A JVM whose clock has another origin cannot be compared with others.
     */
    private static boolean isMonotonic(Optional<String> uptime, long monotonicNanos, long uptimeOffsetNanos) {
        double grainSeconds = 0.05;
        return uptime.map(line -> Double.parseDouble(line.split(" ", -1)[0]) - uptimeOffsetNanos / 1e9)
                .filter(up -> monotonicNanos >= 0 && monotonicNanos / 1e9 <= up + grainSeconds)
                .isPresent();
    }
}
