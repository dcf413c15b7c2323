package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.console.Console;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The settings of the command: option, environment, file, default; and how {@code config} shows them. */
class SettingsTest {

    @TempDir
    Path directory;

    private final Map<String, String> environment = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Path file;

    @BeforeEach
    void configure() throws IOException {
        environment.put("HOME", directory.toString());
        file = Files.createDirectories(directory.resolve(".config/holdfast")).resolve("config");
    }

    @Test
    void withoutSettingsTheDefaultIsUsed() {
        assertThat(run("config")).isZero();
        assertThat(out())
                .isEqualTo("# " + file + ": not in use\n# /etc/holdfast/config: not in use\n"
                        + "# from: default\nHOLDFAST_STORE=sqlite:\n"
                        + "# from: default\nHOLDFAST_STORE_TIMEOUT=10s\n");
    }

    @Test
    void fileIsUsedWhereTheEnvironmentSaysNothing() throws IOException {
        Files.writeString(file, "# ours\n\nHOLDFAST_STORE=redis://ann:s3cret@h:1/2\nHOLDFAST_STORE_TIMEOUT=3s\n");
        environment.put("HOLDFAST_STORE_TIMEOUT", "4s");
        assertThat(run("config")).isZero();
        assertThat(out())
                .startsWith("# " + file + ": in use\n")
                .contains(
                        "# from: file\nHOLDFAST_STORE=redis://",
                        "***",
                        "# from: environment\nHOLDFAST_STORE_TIMEOUT=4s\n")
                .doesNotContain("s3cret");
        assertThat(run("config", "--json", "--store", "memory:x")).isZero();
        assertThat(out())
                .isEqualTo("{\"store\":\"memory:x\",\"storeFrom\":\"option\",\"timeoutMillis\":4000,"
                        + "\"timeoutFrom\":\"environment\",\"file\":\"" + file + "\"}\n");
        environment.put("XDG_CONFIG_HOME", "/nowhere");
        assertThat(run("config")).isZero();
        assertThat(out()).contains("HOLDFAST_STORE=sqlite:\n");
    }

    @Test
    void storeOfTheFileIsUsedByTheCommands() throws IOException {
        Files.writeString(file, "HOLDFAST_STORE=memory:\n");
        assertThat(run("run", "x", "--", "true")).isZero();
        assertThat(err()).contains("memory:");
    }

    @Test
    void whatIsWrongInTheFileIsNamedWithoutItsText() throws IOException {
        Files.writeString(file, "HOLDFAST_STORE=memory:\nPASSWORD=s3cret\n");
        assertThat(run("ls")).isEqualTo(78);
        assertThat(err()).contains("'" + file + "'", "line 2").doesNotContain("s3cret");
        Files.writeString(file, "HOLDFAST_STORE=gopher://h\n");
        assertThat(run("ls")).isEqualTo(64);
        assertThat(err()).startsWith("holdfast: HOLDFAST_STORE in '" + file + "': unknown store 'gopher://h'");
    }

    @Test
    void errorsAreJsonWhereTheAnswerWouldBe() {
        assertThat(run("show", "x", "--json", "--store", "redis://127.0.0.1:1")).isEqualTo(69);
        assertThat(out()).isEmpty();
        assertThat(err()).startsWith("{\"error\":\"store redis://127.0.0.1:1").endsWith("\",\"exitCode\":69}\n");
        assertThat(run("run", "x", "--store", "gopher:", "--", "echo", "--json"))
                .isEqualTo(64);
        assertThat(err()).startsWith("holdfast: ");
    }

    private int run(String... args) {
        out.reset();
        err.reset();
        return Main.run(List.of(args), environment, new Console(stream(out), stream(err), false, false));
    }

    private static PrintStream stream(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
