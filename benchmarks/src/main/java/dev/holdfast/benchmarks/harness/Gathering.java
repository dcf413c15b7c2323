package dev.holdfast.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The processes of one cell, which begin at the same time. Each creates a file when it is connected; once all have, the
 * cell writes the time at which the window opens to another file. A start can be slow, so they wait for each other as
 * long as a cell may take. Not thread-safe.
 */
public final class Gathering implements AutoCloseable {

    private static final Duration POLL_INTERVAL = Duration.ofMillis(10);
    private static final String HERE = "here-";
    private static final String BEGIN = "begin";

    private final List<Jvm> processes = new ArrayList<>();
    private final Bench bench;

    private Gathering(Bench bench) {
        this.bench = bench;
    }

    /** Starts one process. */
    @FunctionalInterface
    public interface Starter {
        Jvm start() throws IOException;
    }

    /** Starts processes of a part of a workload. */
    public static Gathering of(int count, String workload, String part, Bench bench) throws IOException {
        return of(count, bench, () -> Jvm.ofPart(List.of(), workload, part, bench));
    }

    /** Starts processes that each {@linkplain #join join}. */
    public static Gathering of(int count, Bench bench, Starter starter) throws IOException {
        Gathering gathering = new Gathering(bench);
        try {
            for (int i = 0; i < count; i++) {
                gathering.processes.add(starter.start());
            }
        } catch (IOException | RuntimeException e) {
            gathering.close();
            throw e;
        }
        return gathering;
    }

    /**
     * Reports that this process is ready, and waits for the others.
     *
     * @return the window, which is the same for all
     * @throws IllegalStateException if the process that started this one has ended
     */
    public static Bench join(Bench bench) throws IOException, InterruptedException {
        ProcessHandle starter = ProcessHandle.current().parent().orElseThrow();
        Path begin = bench.place().resolve(BEGIN);
        Files.createFile(bench.place().resolve(HERE + ProcessHandle.current().pid()));
        await(() -> {
            if (!starter.isAlive()) {
                throw new IllegalStateException("the process that lets the others begin has ended");
            }
            return Files.exists(begin);
        });
        return bench.from(Long.parseLong(Files.readString(begin)));
    }

    /**
     * Waits until all processes are ready, and publishes when the window opens.
     *
     * @throws IllegalStateException if one has ended already
     */
    public Bench open(Duration warmUp) throws IOException, InterruptedException {
        await(() -> {
            if (!processes.stream().allMatch(Jvm::isAlive)) {
                throw new IllegalStateException("a process ended before it took part");
            }
            try (var files = Files.list(bench.place())) {
                return files.filter(file -> file.getFileName().toString().startsWith(HERE))
                                .count()
                        == processes.size();
            }
        });
        Bench opened = bench.after(warmUp);
        Path part = bench.place().resolve(BEGIN + ".part");
        Files.writeString(part, Long.toString(opened.begin()));
        Files.move(part, bench.place().resolve(BEGIN), StandardCopyOption.ATOMIC_MOVE);
        return opened;
    }

    /** Waits until all have ended; throws an {@link IllegalStateException} if one failed. */
    public List<Measurements> measurements() throws IOException, InterruptedException {
        List<Measurements> all = new ArrayList<>();
        for (Jvm process : processes) {
            all.add(process.measurements());
        }
        return all;
    }

    private interface Condition {
        boolean isMet() throws IOException;
    }

    private static void await(Condition condition) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Jvm.UNTIL_THE_CELL_ENDS.toNanos();
        while (!condition.isMet()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("the processes did not come together");
            }
            TimeUnit.NANOSECONDS.sleep(POLL_INTERVAL.toNanos());
        }
    }

    /** Destroys those that still run. */
    @Override
    public void close() {
        processes.forEach(Jvm::close);
    }
}
