package dev.holdfast.benchmarks.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Processes of a cell")
class GatheringTest {

    private static final String HERE = "here-";

    @TempDir
    private Path directory;

    /** Joins, and tells when the window opens. */
    static final class Joining {
        public static void main(String[] args) throws Exception {
            Bench joined;
            try {
                joined = Gathering.join(bench(Path.of(args[0])));
            } catch (IllegalStateException starterHasEnded) {
                return;
            }
            Measurements measurements = new Measurements();
            measurements.put("begin", joined.begin());
            measurements.lines().forEach(System.out::println);
        }
    }

    /** Ends before it joins. */
    static final class Ending {
        public static void main(String[] args) {}
    }

    /** Starts one that joins, and ends once it has. */
    static final class Leaving {
        public static void main(String[] args) throws Exception {
            var unused = Jvm.start(Jvm.Purpose.TRIAL, Joining.class, List.of(args));
            Path place = Path.of(args[0]);
            await().forever().until(() -> joined(place).isPresent());
        }
    }

    private static Bench bench(Path place) {
        return Bench.after(Duration.ZERO, place, Duration.ofSeconds(1), 1);
    }

    private Gathering gather(int count, Class<?> main) throws IOException {
        return Gathering.of(
                count, bench(directory), () -> Jvm.start(Jvm.Purpose.TRIAL, main, List.of(directory.toString())));
    }

    /** The number of the process that has joined, if one has. */
    private static Optional<Long> joined(Path place) throws IOException {
        try (var files = Files.list(place)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(HERE))
                    .map(name -> Long.valueOf(name.substring(HERE.length())))
                    .findFirst();
        }
    }

    @Test
    @DisplayName("begin together")
    void beginTogether() throws Exception {
        try (Gathering processes = gather(3, Joining.class)) {
            double begin = processes.open(Duration.ofSeconds(1)).begin();
            assertThat(Measurements.all(processes.measurements(), "begin").boxed())
                    .containsExactly(begin, begin, begin);
        }
    }

    @Test
    @DisplayName("are not waited for once one has ended")
    void noneIsWaitedForOnceOneHasEnded() throws Exception {
        try (Gathering processes = gather(1, Ending.class)) {
            assertThatThrownBy(() -> processes.open(Duration.ofSeconds(1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a process ended before it took part");
        }
    }

    @Test
    @DisplayName("end when the one that started them has ended")
    void endWithTheirStarter() throws Exception {
        try (Gathering starter = gather(1, Leaving.class)) {
            Optional<Long> joined =
                    await().atMost(Duration.ofMinutes(2)).until(() -> joined(directory), Optional::isPresent);
            assertThat(starter.measurements()).hasSize(1);
            Optional<ProcessHandle> left = joined.flatMap(ProcessHandle::of);
            if (left.isPresent()) {
                left.get().onExit().get(2, TimeUnit.MINUTES);
            }
        }
    }
}
