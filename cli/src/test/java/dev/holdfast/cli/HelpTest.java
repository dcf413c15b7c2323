package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.run.RunOption;
import dev.holdfast.cli.store.SeparateStores;
import dev.holdfast.spi.StoreProvider;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "run --help",
                "ls --help",
                "show -h",
                "release --help",
                "watch --help",
                "top --help",
                "console --help",
                "config --help",
                "completion --help",
                "run --help x -- true"
            })
    void helpGoesToStandardOutputAndFitsATerminal(String line) {
        assertThat(run(line.split(" "))).isZero();
        assertThat(err.size()).isZero();
        assertThat(text(out).lines()).allMatch(l -> l.length() <= 100).anyMatch(l -> l.contains("holdfast"));
    }

    @Test
    void theHelpOfRunTeaches() {
        run("run", "--help");
        for (RunOption option : RunOption.values()) {
            assertThat(text(out)).contains(option.names());
        }
        for (String wanted : List.of(
                "$HOLDFAST_STORE",
                "HOLDFAST_TOKEN",
                "Exit codes:",
                "  75 ",
                "  79 ",
                "Examples:",
                "holdfast run nightly-report -- ./report.sh")) {
            assertThat(text(out)).contains(wanted);
        }
    }

    @Test
    void tellsItsVersion() {
        assertThat(run("--version")).isZero();
        assertThat(text(out)).startsWith("holdfast ");
        assertThat(run("-V")).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "rum x -- true | there is no command 'rum'. Did you mean run?",
                "version | holdfast --version",
                "list | holdfast ls",
                "status | holdfast show NAME",
                "unlock x | holdfast release NAME --force",
                "hold x | holdfast run NAME -- COMMAND",
                "nightly -- ./report.sh | holdfast run NAME -- COMMAND",
                "nonsense | the commands are run, ls, show",
                "help foo | there is no command 'foo'",
                "-n x -- true | after 'run'",
                "run x -c true -- true | exclude each other",
                "run x -c | -c needs a value: -c TEXT",
                "run -e x -- true | exclusive by default",
                "watch --interval 0 | longer than zero",
                "watch x | no name",
                "top x | no name",
                "console x | no name",
                "console --ports 1 | Did you mean --port?",
                "config x | no name",
                "run -u x | holdfast release NAME --force",
                "run --timeout 5 x -- true | --wait 5s",
                "run --ttl 5s x -- true | --lease",
                "run --name x -- true | the name needs no option",
                "run -n 5 x -- true | --permits 1/5",
                "run x y -- true | unexpected second name 'y'",
                "run --store | --store needs a value: --store URI",
                "run --permits 3/1 x -- true | --permits 1/3",
                "run --permits 3 x -- true | 1/3",
                "run --lease 0 x -- true | at least 200ms",
                "run --store /path/l.db x -- true | Did you mean 'sqlite:/path/l.db'?",
                "run --store l.db x -- true | Did you mean 'sqlite:l.db'?",
                "run --store sqlite:~/l.db x -- true | $HOME",
                "run --store memory x -- true | Did you mean 'memory:'?",
                "run --store rdis://h x -- true | Did you mean 'redis:'?",
                "run --store valkey://h x -- true | Did you mean 'redis:'?",
                "run --store localhost:6379 x -- true | Did you mean 'redis://localhost:6379'?",
                "run --store 127.0.0.1:2181 x -- true | Did you mean 'zookeeper://127.0.0.1:2181'?",
                "run --store http://h:2379 x -- true | Did you mean 'etcd://h:2379'?",
                "run --store gopher://h x -- true | unknown store 'gopher://h'; known schemes are sqlite:",
                "ls x | --prefix",
                "run x true | is missing before the command: holdfast run NAME -- COMMAND",
                "run x sh -c true | is missing before the command: holdfast run NAME -- COMMAND",
                "run --nonblok x -- true | Did you mean --nonblock",
                "run --store postgres://a/b x -- true | Did you mean 'postgresql:'",
                "run --store sqlite3:x x -- true | Did you mean 'sqlite:'?",
                "run --store jdbc:postgresql://a/b x -- true | Leave out 'jdbc:'",
                "run --on-lost exec:no-such-program x -- true | no-such-program",
                "run --on-lost exec:/no/such x -- true | /no/such",
                "sho x | Did you mean show",
                "run x -- | the command to run is missing",
                "run -- true | NAME",
                "run --wait x -- true | 'x' is the value of --wait",
                "run --waits 5 x -- true | --waits",
                "show | NAME",
                "show x y | y",
                "completion | SHELL",
                "completion tcsh | bash, zsh or fish",
                "ls --wait 5 | --wait"
            })
    void aMistakeNamesWhatIsWrong(String line, String wanted) {
        assertThat(run(line.strip().split(" "))).isEqualTo(64);
        assertThat(out.size()).isZero();
        assertThat(text(err)).startsWith("holdfast: ").contains(wanted.strip()).doesNotContain("class path");
    }

    @Test
    void allStoresOfTheCommandAreNamed() {
        Set<String> known = new TreeSet<>(SeparateStores.directories().keySet());
        ServiceLoader.load(StoreProvider.class).forEach(provider -> known.addAll(provider.schemes()));
        run("run", "--store", "gopher:", "x", "--", "true");
        assertThat(known)
                .isNotEmpty()
                .allSatisfy(scheme -> assertThat(text(err)).contains(scheme + ":"));
    }

    @Test
    void helpIsACommandToo() {
        assertThat(run("help")).isZero();
        String all = text(out);
        out.reset();
        assertThat(run("--help")).isZero();
        assertThat(text(out)).isEqualTo(all);
        out.reset();
        assertThat(run("help", "run")).isZero();
        assertThat(text(out)).contains("holdfast run [OPTIONS] NAME -- COMMAND");
    }

    @Test
    void withoutArgumentsTheHelpIsAMistake() {
        assertThat(run()).isEqualTo(64);
        assertThat(text(err)).contains("holdfast run nightly-report");
    }

    @Test
    void mistakesAreUsageErrorsBeforeAnythingIsTouched() {
        for (String[] args : new String[][] {
            {"run"},
            {"run", "x"},
            {"run", "x", "--"},
            {"run", "--wait", "-1s", "x", "--", "true"},
            {"run", "--conflict-exit-code", "256", "x", "--", "true"},
            {"run", "--no-such-option", "x", "--", "true"},
            {"run", "--permits", "4/3", "x", "--", "true"},
            {"run", "", "--", "true"},
            {"release", "x"},
            {"members"},
            {"no-such-command"}
        }) {
            String line = String.join(" ", args);
            assertThat(run(args)).as(line).isEqualTo(64);
            assertThat(text(err)).as(line).startsWith("holdfast: ").doesNotContain("Exception", "\tat ");
            assertThat(out.size()).as(line).isZero();
            err.reset();
        }
    }

    @CanIgnoreReturnValue
    private int run(String... args) {
        return Main.run(
                List.of(args),
                Map.of("HOLDFAST_STORE", "sqlite:/no/such/directory/x.db"),
                new Console(stream(out), stream(err), false, false));
    }

    private static PrintStream stream(ByteArrayOutputStream to) {
        return new PrintStream(to, true, StandardCharsets.UTF_8);
    }

    private static String text(ByteArrayOutputStream from) {
        return from.toString(StandardCharsets.UTF_8);
    }
}
