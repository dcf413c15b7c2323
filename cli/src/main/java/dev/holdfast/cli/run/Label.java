package dev.holdfast.cli.run;

import dev.holdfast.cli.console.Printable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How lists of holders name this process: {@code ann@web1 pid 12 'report.sh'}. The arguments of the command are left
 * out, since they may contain secrets.
 */
final class Label {

    private static final int MAX_CHARS = 128;
    private static final int MAX_BYTES = 256;
    private static final int MAX_PART = 40;

    private Label() {}

    static String of(List<String> command, Map<String, String> environment) {
        String user = environment.getOrDefault("LOGNAME", System.getProperty("user.name", "?"));
        String who = Printable.cut(user, MAX_PART) + "@" + Printable.cut(host(environment), MAX_PART) + " pid "
                + ProcessHandle.current().pid();
        String program = Printable.cut(ProcessText.fileName(command.get(0)), MAX_PART);
        String label = program.isEmpty() ? who : who + " '" + program + "'";
        boolean fits = label.length() <= MAX_CHARS && label.getBytes(StandardCharsets.UTF_8).length <= MAX_BYTES;
        return fits ? label : "pid " + ProcessHandle.current().pid();
    }

    /** The name of the machine, without a query to a name server, which may take seconds. */
    private static String host(Map<String, String> environment) {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return environment.getOrDefault("HOSTNAME", "?");
        }
    }
}
