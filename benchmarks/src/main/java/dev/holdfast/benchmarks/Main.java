package dev.holdfast.benchmarks;

import dev.holdfast.benchmarks.report.Pictures;
import dev.holdfast.benchmarks.report.Results;
import dev.holdfast.benchmarks.report.Table;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** The command: runs workloads, prints the tables, and on request writes the pages. */
final class Main {

    private Main() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.err.println(Options.USAGE);
            System.exit(2);
            return;
        }
        if (options.wantsHelp()) {
            out.println(Options.USAGE);
            return;
        }
        if (options.pictures().isPresent()) {
            Files.createDirectories(options.pictures().get()); // or fail before anything is measured
        }
        Results results = new Driver(options, System.err).run();
        Table.boards(results).forEach(out::println);
        out.print(Table.of(results));
        if (options.page().isPresent()) {
            Page.write(options.page().get(), options, results);
        }
        if (options.pictures().isPresent()) {
            Pictures.write(options.pictures().get(), results);
        }
        if (!results.remarks().isEmpty()) {
            out.println();
            results.remarks().forEach(out::println);
        }
        if (!results.violations().isEmpty()) {
            out.println();
            results.violations().forEach(violation -> out.println("VIOLATION " + violation));
            System.exit(1);
        }
    }
}
