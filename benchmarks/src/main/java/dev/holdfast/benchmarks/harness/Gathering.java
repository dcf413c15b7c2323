package dev.holdfast.benchmarks.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Lets processes begin together, however long each takes to start: who has connected says so, and when all have, one
 * tells them when the window opens. By files in a directory that they share.
 */
public final class Gathering {

    private static final Duration LOOK = Duration.ofMillis(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String HERE = "here-";
    private static final String BEGIN = "begin";

    private Gathering() {}

    /**
     * Says that a process is there, and waits for the others.
     *
     * @return the window for which all warm up from now on
     */
    public static Bench join(Bench bench) throws IOException, InterruptedException {
        Path begin = bench.place().resolve(BEGIN);
        Files.createFile(bench.place().resolve(HERE + ProcessHandle.current().pid()));
        await(() -> Files.exists(begin));
        return bench.from(Long.parseLong(Files.readString(begin)));
    }

    /**
     * Waits until all processes are there, and tells them when the window opens.
     *
     * @throws IllegalStateException if one has ended before
     */
    public static Bench open(List<Jvm> processes, Bench bench, Duration warmUp)
            throws IOException, InterruptedException {
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

    private interface Condition {
        boolean isMet() throws IOException;
    }

    private static void await(Condition condition) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.isMet()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("the processes did not come together");
            }
            TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
        }
    }
}
