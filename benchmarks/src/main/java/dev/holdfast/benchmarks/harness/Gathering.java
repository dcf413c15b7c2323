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
 * Processes that take part in one cell, and begin together, however long each takes to start: who has connected says
 * so, and when all have, the cell tells them when the window opens. By files in a directory that they share. How long
 * a start takes depends on the machine, so they wait for each other as long as a cell may take. Not thread-safe.
 */
public final class Gathering implements AutoCloseable {

    private static final Duration LOOK = Duration.ofMillis(10);
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

    /** Starts so many processes, each of which {@linkplain #join joins}. */
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
     * Says that this process is there, and waits for the others.
     *
     * @return the window for which all warm up from now on
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
     * Waits until all processes are there, and tells them when the window opens.
     *
     * @throws IllegalStateException if one has ended before
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
        Bench opened = bench.later(warmUp);
        Path part = bench.place().resolve(BEGIN + ".part");
        Files.writeString(part, Long.toString(opened.begin()));
        Files.move(part, bench.place().resolve(BEGIN), StandardCopyOption.ATOMIC_MOVE);
        return opened;
    }

    /**
     * Waits for the end of all.
     *
     * @return what each has printed
     * @throws IllegalStateException if one failed
     */
    public List<Sheet> sheets() throws IOException, InterruptedException {
        List<Sheet> sheets = new ArrayList<>();
        for (Jvm process : processes) {
            sheets.add(process.sheet());
        }
        return sheets;
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
            TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
        }
    }

    /** Ends those that have not ended. */
    @Override
    public void close() {
        processes.forEach(Jvm::close);
    }
}
