package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.run.RunArguments;
import dev.holdfast.cli.run.RunOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class RunArgumentsTest {

    @Test
    void takesAPlainCommandLineApart() {
        RunArguments read = RunArguments.readPlain(List.of(
                "--wait",
                "10s",
                "--store=sqlite:/a=b",
                "--verbose",
                "nightly report",
                "-E",
                "7",
                "--",
                "cmd",
                "--",
                "--wait",
                ""));
        assertThat(read)
                .isEqualTo(new RunArguments(
                        Map.of(
                                RunOption.WAIT, "10s",
                                RunOption.STORE, "sqlite:/a=b",
                                RunOption.VERBOSE, "",
                                RunOption.CONFLICT_EXIT_CODE, "7"),
                        "nightly report",
                        List.of("cmd", "--", "--wait", "")));
    }

    @Test
    void leavesTheRestToTheGeneralParser() {
        assertThat(RunArguments.readPlain(List.of())).isNull();
        assertThat(RunArguments.readPlain(List.of("x"))).isNull();
        assertThat(RunArguments.readPlain(List.of("x", "--"))).isNull();
        assertThat(RunArguments.readPlain(List.of("x", "y", "--", "true"))).isNull();
        assertThat(RunArguments.readPlain(List.of("--help", "--", "true"))).isNull();
        assertThat(RunArguments.readPlain(List.of("-w5s", "x", "--", "true"))).isNull();
        assertThat(RunArguments.readPlain(List.of("x", "--wait", "--", "true"))).isNull();
        assertThat(RunArguments.readPlain(List.of("x", "-c", "true", "--", "true")))
                .isNull();
        assertThat(RunArguments.readPlain(List.of("--verbose=yes", "x", "--", "true")))
                .isNull();
        assertThat(RunArguments.readPlain(List.of("-w", "1", "--wait", "2", "x", "--", "true")))
                .isNull();
    }

    /**
     * Command lines made of pieces of command lines: where the quick reader answers at all, it answers what the general
     * parser does.
     */
    @Test
    void agreesWithTheGeneralParser() {
        List<String> pieces = new ArrayList<>(List.of(
                "x",
                "y z",
                "",
                "@daily",
                "10s",
                "5",
                "=",
                "-",
                "-x",
                "-w5s",
                "-E=3",
                "--wait=",
                "--wait=1=2",
                "--no-stdin=true",
                "--h"));
        for (RunOption option : RunOption.values()) {
            pieces.addAll(option.names());
            pieces.addAll(option.names());
        }
        Random random = new Random(20_260_101);
        int read = 0;
        for (int round = 0; round < 20_000; round++) {
            List<String> front = new ArrayList<>();
            for (int i = random.nextInt(6); i >= 0; i--) {
                front.add(pieces.get(random.nextInt(pieces.size())));
            }
            List<String> args = new ArrayList<>(front);
            args.addAll(List.of("--", "true"));
            RunArguments quick = RunArguments.readPlain(args);
            if (quick != null) {
                read++;
                assertThat(quick).as("%s", front).isEqualTo(general(front));
            }
        }
        assertThat(read).isGreaterThan(500);
    }

    private static RunArguments general(List<String> front) {
        List<String> args = new ArrayList<>(List.of("run"));
        args.addAll(front);
        CommandLine all = CommandModel.build();
        try {
            return CommandModel.runArguments(
                    all.parseArgs(args.toArray(new String[0])).subcommand(), List.of("true"));
        } catch (ParameterException e) {
            throw new AssertionError("the general parser refuses " + front + ": " + e.getMessage());
        }
    }
}
