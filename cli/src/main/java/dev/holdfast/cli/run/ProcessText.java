package dev.holdfast.cli.run;

import dev.holdfast.cli.console.Printable;
import java.util.List;

/** Processes, for people. */
final class ProcessText {

    private static final int MOST = 5;
    private static final int LONGEST_NAME = 40;

    private ProcessText() {}

    /** As {@code 4711 (sleep), 4712 (sh)}. */
    static String list(List<ProcessHandle> processes) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < processes.size(); i++) {
            if (i == MOST) {
                return text.append(" and ")
                        .append(processes.size() - MOST)
                        .append(" more")
                        .toString();
            }
            ProcessHandle process = processes.get(i);
            text.append(i == 0 ? "" : ", ").append(process.pid());
            process.info()
                    .command()
                    .ifPresent(path -> text.append(" (")
                            .append(Printable.cut(fileName(path), LONGEST_NAME))
                            .append(')'));
        }
        return text.toString();
    }

    /** The last part of a path. */
    static String fileName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }
}
