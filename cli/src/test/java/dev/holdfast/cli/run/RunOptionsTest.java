package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.cli.console.CliException;
import dev.holdfast.cli.run.LossPolicy.Action;
import dev.holdfast.cli.run.RunOptions.Leftovers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunOptionsTest {

    @Test
    void hasDefaults() {
        RunOptions options = read("x");
        assertThat(options.maxWait()).isEmpty();
        assertThat(options.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(options.lossPolicy()).isEqualTo(new LossPolicy(Action.TERM, "", Duration.ofSeconds(5)));
        assertThat(options.leftovers()).isEqualTo(Leftovers.WAIT);
        assertThat(options.conflictExitCode()).isEqualTo(75);
        assertThat(options.withStdin()).isTrue();
        assertThat(options.store()).isEmpty();
        assertThat(options.share()).isEqualTo(Share.ALONE);
    }

    @Test
    void aShortLeaseHasAShortGrace() {
        assertThat(read("--lease", "6s", "x").lossPolicy().grace()).isEqualTo(Duration.ofSeconds(1));
        assertThat(read("--lease", "10m", "x").lossPolicy().grace()).isEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void readsEachOption() {
        RunOptions options = read(
                "--nonblock",
                "--lease",
                "1m",
                "--grace",
                "20",
                "--on-lost",
                "exec:/bin/alarm now",
                "--leftovers",
                "kill",
                "-E",
                "0",
                "--no-stdin",
                "--store",
                "memory:",
                "x");
        assertThat(options.maxWait()).contains(Duration.ZERO);
        assertThat(options.lossPolicy())
                .isEqualTo(new LossPolicy(Action.EXEC, "/bin/alarm now", Duration.ofSeconds(20)));
        assertThat(options.leftovers()).isEqualTo(Leftovers.KILL);
        assertThat(options.conflictExitCode()).isZero();
        assertThat(options.withStdin()).isFalse();
        assertThat(options.store()).contains("memory:");
        assertThat(read("--wait", "0", "x").maxWait()).contains(Duration.ZERO);
        assertThat(read("--on-lost", "kill", "x").lossPolicy().action()).isEqualTo(Action.KILL);
        assertThat(read("--on-lost", "ignore", "x").lossPolicy().action()).isEqualTo(Action.IGNORE);
        assertThat(read("--leftovers", "ignore", "x").leftovers()).isEqualTo(Leftovers.IGNORE);
        assertThat(read("--grace", "0", "x").lossPolicy().grace()).isZero();
    }

    @Test
    void readsWhatPartOfALockIsWanted() {
        assertThat(read("--shared", "x").share()).isEqualTo(new Share(Share.Kind.SHARED, 1, 1));
        assertThat(read("--exclusive", "x").share()).isEqualTo(new Share(Share.Kind.EXCLUSIVE, 1, 1));
        assertThat(read("--permits", "2/3", "x").share()).isEqualTo(new Share(Share.Kind.PERMITS, 2, 3));
        assertThat(read("--permits=1/1", "x").share()).isEqualTo(new Share(Share.Kind.PERMITS, 1, 1));
        refuses("exclude each other", "--shared", "--exclusive", "x");
        refuses("exclude each other", "--permits", "1/2", "--shared", "x");
        refuses("--permits 4/3 asks for 4 of 3, which can never be granted", "--permits", "4/3", "x");
        for (String text : List.of("", "3", "/", "1/", "/3", "0/3", "1/0", "+1/3", "1/3/3", "1 /3", "1/1234567890")) {
            refuses("--permits takes K/N, such as 1/3 for one of three, but got '", "--permits=" + text, "x");
        }
    }

    @Test
    void refusesMistakesInOneSentence() {
        refuses("--nonblock is the same as --wait 0", "--nonblock", "--wait", "5", "x");
        refuses("--lease must be at least 200ms", "--lease", "100ms", "x");
        refuses("--lease must be at least 200ms", "--lease", "0", "x");
        refuses("--message: A message must have 1 to 256 bytes", "--message", " ", "x");
        refuses("--message: A message must be one line without control characters", "-m", "a\u001b[2J", "x");
        refuses("--grace (11s) may be at most a third of the lease (30s)", "--grace", "11s", "x");
        refuses("--grace has no effect with --on-lost kill", "--on-lost", "kill", "--grace", "1s", "x");
        refuses("--on-lost takes term, kill, ignore or exec:PROGRAM, but got 'stop'", "--on-lost", "stop", "x");
        refuses("--on-lost takes", "--on-lost", "exec:", "x");
        refuses("--leftovers takes wait, kill or ignore, but got ''", "--leftovers", "", "x");
        for (String code : List.of("256", "-1", "x", "", "1e2", "0000")) {
            refuses("--conflict-exit-code takes a number from 0 to 255", "--conflict-exit-code=" + code, "x");
        }
        refuses("at least one non-blank character", "");
        refuses("at least one non-blank character", "  ");
        refuses("at most 512 bytes", "é".repeat(257));
        refuses("unpaired surrogate", "\uD83D");
    }

    private static RunOptions read(String... front) {
        List<String> args = new ArrayList<>(List.of(front));
        args.addAll(List.of("--", "true"));
        return RunOptions.of(RunArguments.readPlain(args));
    }

    private static void refuses(String message, String... front) {
        assertThatThrownBy(() -> read(front))
                .isInstanceOf(CliException.class)
                .hasMessageContaining(message)
                .extracting(e -> ((CliException) e).exitCode())
                .isEqualTo(64);
    }
}
