package dev.holdfast.cli;

import static dev.holdfast.cli.CliProcess.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the first command of the README in two terminals, and draws what both show. */
@Tag("process")
@DisplayName("The picture in the README")
class TerminalPictureTest {

    private static final Path README = Path.of("..", "README.md");
    private static final Path PICTURE = Path.of("..", "docs", "images", "terminal.svg");
    private static final String RENEW = "holdfast.renew";
    private static final String PROMPT = "$ ";

    private static final String HEAD = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
            <title>Two terminals run the same command: the second one waits for the first</title>
            <style>
              text { font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre; }
              rect { fill: #f6f8fa; stroke: #8c959f; }
              .command { font-weight: bold; }
              @media (prefers-color-scheme: dark) { text { fill: #e6edf3; } rect { fill: #161b22; stroke: #6e7681; } }
            </style>
            """;

    private static final int MARGIN = 12;
    private static final int LINE = 20;

    /** Rounded up: a character is 0.6 em wide. */
    private static final int CHARACTER = 8;

    @TempDir
    Path directory;

    @Test
    @DisplayName("shows what the command prints, when two run it at once")
    void isUpToDate() throws IOException {
        String command = firstCommand();
        String picture = draw(command, run(command));
        if (Boolean.getBoolean(RENEW)) {
            Files.writeString(PICTURE, picture);
        }
        assertThat(PICTURE)
                .as("the picture in the README; ./mvnw test -pl cli -am -Dtest=TerminalPictureTest"
                        + " -Dsurefire.failIfNoSpecifiedTests=false -D" + RENEW + "=true draws it anew")
                .hasContent(picture);
    }

    private static String firstCommand() throws IOException {
        List<String> lines = Files.readAllLines(README);
        return lines.get(lines.indexOf("```console") + 1).substring(PROMPT.length());
    }

    /** The output of two shells: the second one starts while the first has the lock. */
    private List<List<String>> run(String command) {
        Place place = new Place(
                directory, Map.of("XDG_STATE_HOME", directory.resolve("state").toString()));
        StringBuilder self = new StringBuilder("exec");
        CliProcess.java().forEach(word -> self.append(" '").append(word).append('\''));
        place.script("holdfast", self.append(" \"$@\"\n").toString());
        // The first one sleeps until the second one waits for it.
        place.script("sleep", "while [ ! -e waits ]; do /bin/sleep 0.1; done\n");
        List<String> shell = List.of("sh", "-c", "PATH=$PWD:$PATH; exec 2>&1; " + command);
        try (CliProcess first = place.startProgram(CliProcess.NOTHING, shell)) {
            until("the first one works", () -> first.out().contains("working\n"));
            try (CliProcess second = place.startProgram(CliProcess.NOTHING, shell)) {
                until("the second one waits", () -> second.out().contains("waiting"));
                place.script("waits", "");
                assertThat(List.of(first.exitCode(), second.exitCode())).containsOnly(0);
                return List.of(steady(first.out()), steady(second.out()));
            }
        }
    }

    /** With a fixed holder, and without what is reported only on a slow machine. */
    private static List<String> steady(String output) {
        return output.replaceAll(
                        "held by .*, lease .* left",
                        "held by ann@web1 pid 4711 'sh' since 2026-01-02T03:04:05Z, lease 29 s left")
                .lines()
                .filter(line -> !line.startsWith("holdfast: ") || line.startsWith("holdfast: waiting for "))
                .distinct()
                .toList();
    }

    private static String draw(String command, List<List<String>> outputs) {
        StringBuilder body = new StringBuilder();
        int width = 2 * MARGIN
                + CHARACTER
                        * outputs.stream()
                                .flatMap(List::stream)
                                .mapToInt(String::length)
                                .max()
                                .orElseThrow();
        int top = 1;
        for (List<String> lines : outputs) {
            int height = (lines.size() + 1) * LINE + MARGIN;
            body.append(String.format(
                    "<rect x=\"1\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>%n", top, width - 2, height));
            body.append(text(top + LINE, " class=\"command\"", PROMPT + command));
            for (int i = 0; i < lines.size(); i++) {
                body.append(text(top + (i + 2) * LINE, "", lines.get(i)));
            }
            top += height + MARGIN;
        }
        return String.format(HEAD, width, top - MARGIN + 1) + body + "</svg>\n";
    }

    private static String text(int y, String attributes, String line) {
        String escaped = line.replace("&", "&amp;").replace("<", "&lt;");
        return String.format("<text x=\"%d\" y=\"%d\"%s>%s</text>%n", MARGIN, y, attributes, escaped);
    }
}
