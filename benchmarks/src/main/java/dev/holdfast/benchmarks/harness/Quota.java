package dev.holdfast.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Half a processor for the processes that are started with {@link #prefix()}. They run in a control group where one can
 * be created, as in a container with a CPU limit. Elsewhere they are pinned to one processor next to a program that
 * computes without a break. Close it after those processes have ended.
 */
public final class Quota implements AutoCloseable {

    private static final long PERIOD_MICROS = 100_000;
    private static final long QUOTA_MICROS = PERIOD_MICROS / 2;
    private static final Path GROUPS = Path.of("/sys/fs/cgroup");

    /** How many groups this process has created, for their names. */
    private static final AtomicInteger CREATED = new AtomicInteger();

    private final Optional<Path> group;
    private final List<Jvm> busy = new ArrayList<>();

    private Quota(Optional<Path> group) {
        this.group = group;
    }

    public static Quota create() throws IOException {
        Optional<Path> group = createGroup(GROUPS).or(() -> createGroup(GROUPS.resolve("cpu")));
        Quota quota = new Quota(group);
        if (group.isEmpty()) {
            quota.busy.add(Jvm.start(Jvm.Purpose.TRIAL, quota.prefix(), BusyLoop.class, List.of()));
        }
        return quota;
    }

    /** A group of version 2 has the file {@code cpu.max}, one of version 1 two files of the CFS scheduler. */
    private static Optional<Path> createGroup(Path parent) {
        Path group =
                parent.resolve("holdfast-bench-" + ProcessHandle.current().pid() + "-" + CREATED.incrementAndGet());
        try {
            Files.createDirectory(group);
            if (Files.exists(group.resolve("cpu.max"))) {
                Files.writeString(group.resolve("cpu.max"), QUOTA_MICROS + " " + PERIOD_MICROS);
            } else {
                Files.writeString(existing(group.resolve("cpu.cfs_period_us")), Long.toString(PERIOD_MICROS));
                Files.writeString(existing(group.resolve("cpu.cfs_quota_us")), Long.toString(QUOTA_MICROS));
            }
            return Optional.of(group);
        } catch (IOException e) {
            delete(group);
            return Optional.empty();
        }
    }

    private static Path existing(Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new IOException("no " + file);
        }
        return file;
    }

    /** What stands before the command line of a process that is limited. */
    public List<String> prefix() {
        return group.map(path -> List.of("sh", "-c", "echo $$ > " + path + "/cgroup.procs && exec \"$@\"", "sh"))
                .orElse(List.of("taskset", "-c", "0"));
    }

    /** How the processes are limited, for the reader of the figures. */
    public String description() {
        return group.isPresent()
                ? "limited to half a processor by a control group"
                : "pinned to one processor next to a busy thread, because no control group could be created";
    }

    @Override
    public void close() {
        busy.forEach(Jvm::close);
        group.ifPresent(Quota::delete);
    }

    private static void delete(Path group) {
        try {
            Files.deleteIfExists(group);
        } catch (IOException e) {
            // The kernel keeps a group in which a process has not ended yet; it is empty and limits nobody else.
            return;
        }
    }
}
