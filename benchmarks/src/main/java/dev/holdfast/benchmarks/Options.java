package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.workload.Cell;
import dev.holdfast.benchmarks.workload.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What is asked for on the command line.
 *
 * @param selections workloads, or cells in the form workload/cell; empty for all
 * @param time how long each cell measures
 * @param rounds how often each cell is run
 * @param javaHome the JDK that runs the cells
 * @param work where the files of stores go
 * @param disturbance which part of the processors others may use while a cell runs; if it is more, it is run again
 * @param page where the pages and their pictures go, if they are to be written
 * @param pictures where the pictures go as well
 */
record Options(
        List<String> selections,
        Duration time,
        int rounds,
        Path javaHome,
        Path work,
        double disturbance,
        Optional<Path> page,
        Optional<Path> pictures,
        boolean wantsHelp) {

    static final String USAGE = """
            usage: benchmarks/run [workload[/cell] ...] [options]
              --seconds N   how long each cell measures (4)
              --rounds N    how often each cell is run, in turn with the others of its workload (3)
              --jdk PATH    the JDK that runs the cells (the one that runs this)
              --dir PATH    where the files of stores go; a disk, no memory file system (a temporary directory)
              --quiet N     run a cell again, up to %d times, while others use more than N %% of the processors (100)
              --write       write complete tables and pictures to benchmarks/target/report
              --pictures PATH  write the pictures to a directory
            workloads: %s""".formatted(
                    Driver.TRIES,
                    String.join(" ", Workloads.ALL.stream().map(Workload::id).toList()));

    static Options parse(String[] args) {
        List<String> selections = new ArrayList<>();
        double seconds = 4;
        int rounds = 3;
        Path javaHome = Path.of(System.getProperty("java.home"));
        Path work = Path.of(System.getProperty("java.io.tmpdir"));
        double quiet = 100;
        Optional<Path> page = Optional.empty();
        Optional<Path> pictures = Optional.empty();
        boolean wantsHelp = false;
        for (Iterator<String> rest = List.of(args).iterator(); rest.hasNext(); ) {
            String arg = rest.next();
            switch (arg) {
                case "--seconds" -> seconds = Double.parseDouble(valueOf(arg, rest));
                case "--rounds" -> rounds = Integer.parseInt(valueOf(arg, rest));
                case "--jdk" -> javaHome = Path.of(valueOf(arg, rest));
                case "--dir" -> work = Path.of(valueOf(arg, rest));
                case "--quiet" -> quiet = Double.parseDouble(valueOf(arg, rest));
                case "--write" -> page = Optional.of(Path.of("benchmarks", "target", "report"));
                case "--pictures" -> pictures = Optional.of(Path.of(valueOf(arg, rest)));
                case "--help", "-h" -> wantsHelp = true;
                default -> selections.add(selection(arg));
            }
        }
        if (seconds <= 0 || rounds <= 0) {
            throw new IllegalArgumentException("There must be at least one round, and some time");
        }
        return new Options(
                List.copyOf(selections),
                Duration.ofNanos((long) (seconds * 1e9)),
                rounds,
                javaHome,
                work,
                quiet / 100,
                page,
                pictures,
                wantsHelp);
    }

    private static String valueOf(String option, Iterator<String> rest) {
        if (!rest.hasNext()) {
            throw new IllegalArgumentException(option + " needs a value");
        }
        return rest.next();
    }

    private static String selection(String text) {
        if (text.startsWith("-")) {
            throw new IllegalArgumentException("No option " + text);
        }
        String[] parts = text.split("/", 2);
        Workload workload = Workloads.byId(parts[0]);
        if (parts.length == 2) {
            var unused = workload.cell(parts[1]);
        }
        return text;
    }

    /** The workloads to run. */
    List<Workload> workloads() {
        return Workloads.ALL.stream()
                .filter(workload -> !cells(workload).isEmpty())
                .toList();
    }

    /** The cells of a workload that are to be run. */
    List<Cell> cells(Workload workload) {
        return workload.cells().stream()
                .filter(cell -> selections.isEmpty()
                        || selections.contains(workload.id())
                        || selections.contains(workload.id() + "/" + cell.id()))
                .toList();
    }
}
