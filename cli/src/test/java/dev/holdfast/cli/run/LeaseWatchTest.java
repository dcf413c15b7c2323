package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Loss;
import dev.holdfast.cli.CliProcess;
import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.cli.console.Console;
import dev.holdfast.cli.run.LossPolicy.Action;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The watch goes by a lease that the test moves, and by a grace that is longer than any test, so none depends on how
 * fast the machine is.
 */
class LeaseWatchTest {

    private static final Duration GRACE = Duration.ofMinutes(1);
    private static final Duration HEALTHY = Duration.ofMinutes(2);
    private static final Duration IN_GRACE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final FakeHold hold = new FakeHold(HEALTHY);
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private Place place;
    private CliProcess command;
    private ProcessTree tree;
    private LeaseWatch leaseWatch;

    @BeforeEach
    void startACommandThatNotesTermAndGoesOn() {
        place = new Place(directory, Map.of());
        Path script = place.script(
                "command.sh",
                "trap 'echo term >> terms' TERM\nsleep 1000 &\necho $! > started\nwhile :; do sleep 0.02; done\n");
        command = place.startProgram(Child.NOTHING, java.util.List.of(script.toString()));
        CliProcess.untilWritten(place.file("started"));
        tree = new ProcessTree(command.handle(), "none");
    }

    @AfterEach
    void end() {
        assertThat(tree.kill(CliProcess.DEADLINE.toNanos())).isTrue();
        command.close();
    }

    @Test
    void leavesACommandAloneWhoseLockIsWell() {
        start(Action.TERM, "");
        hold.setRemaining(Duration.ofSeconds(61));
        hold.untilLookedAt();
        leaseWatch.stop();
        assertThat(leaseWatch.hasActed()).isFalse();
        assertThat(place.file("terms")).doesNotExist();
        assertThat(command.isAlive()).isTrue();
        assertThat(text()).isEmpty();
    }

    @Test
    void sendsTermWhileThereIsTimeAndKillBeforeThereIsNone() {
        start(Action.TERM, "");
        hold.setRemaining(IN_GRACE);
        CliProcess.untilWritten(place.file("terms"));
        assertThat(command.isAlive()).isTrue();
        assertThat(text())
                .contains("lock 'x' can't be kept: it was not renewed, and its lease expires in 30s; sending TERM");
        hold.setRemaining(Duration.ofMillis(100));
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(leaseWatch.hasActed()).isTrue();
        assertThat(tree.alive()).isEmpty();
    }

    @Test
    void aLeaseThatIsOverLeavesNoGrace() {
        start(Action.TERM, "");
        hold.lose(Loss.Cause.REMOVED);
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(place.file("terms")).doesNotExist();
        assertThat(tree.alive()).isEmpty();
        assertThat(text()).contains("lock 'x' is lost: it was removed at the store; killing");
    }

    @Test
    void noticesTheEndByItsOwnClockThoughNobodyTells() {
        start(Action.TERM, "");
        hold.setRemaining(Duration.ZERO);
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(text())
                .contains("lock 'x' is lost: its lease expired: no keep-alive was acknowledged in time; killing");
    }

    @Test
    void saysWhyALockIsLostThoughItWasNotToldYet() {
        start(Action.TERM, "");
        hold.loseUntold(Loss.Cause.REMOVED);
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(text()).contains("lock 'x' is lost: it was removed at the store; killing");
    }

    @Test
    void killsWithoutWordsIfThatIsWanted() {
        start(Action.KILL, "");
        hold.setRemaining(IN_GRACE);
        hold.untilLookedAt();
        assertThat(command.isAlive()).isTrue();
        hold.setRemaining(Duration.ofMillis(100));
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(place.file("terms")).doesNotExist();
    }

    @Test
    void ignoringMeansToSayItAndNoMore() {
        start(Action.IGNORE, "");
        hold.setRemaining(Duration.ofMillis(10));
        hold.untilLookedAt();
        assertThat(leaseWatch.hasActed()).isFalse();
        hold.lose(Loss.Cause.SESSION_ENDED);
        CliProcess.until("it says so", () -> text().contains("the command continues without the lock"));
        assertThat(text()).contains("lock 'x' is lost: the store ended the session");
        leaseWatch.stop();
        assertThat(leaseWatch.hasActed()).isTrue();
        assertThat(leaseWatch.isEndingTheTree()).isFalse();
        assertThat(command.isAlive()).isTrue();
    }

    @Test
    void aWatchThatBreaksDownLetsNobodyRunOn() {
        start(Action.TERM, "");
        hold.breakDown();
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(leaseWatch.hasActed()).isTrue();
        assertThat(text()).contains("the lease can't be monitored");
    }

    @Test
    void aProgramOfTheUsersComesInThePlaceOfTerm() {
        Path hook = place.script(
                "hook.sh", "echo \"$HOLDFAST_NAME $HOLDFAST_PID $HOLDFAST_LOSS\" > " + place.file("hooked") + "\n");
        start(Action.EXEC, hook.toString());
        hold.setRemaining(IN_GRACE);
        assertThat(CliProcess.untilWritten(place.file("hooked"))).isEqualTo("x " + command.pid() + " NOT_RENEWED");
        assertThat(command.isAlive()).isTrue();
        hold.setRemaining(Duration.ofMillis(100));
        assertThat(command.exitCode()).isEqualTo(137);
        leaseWatch.stop();
        assertThat(place.file("terms")).doesNotExist();
    }

    @Test
    void aProgramThatIsNotThereMeansTerm() {
        start(Action.EXEC, "/no/such/hook");
        hold.setRemaining(IN_GRACE);
        CliProcess.untilWritten(place.file("terms"));
        assertThat(text()).contains("can't run '/no/such/hook' (--on-lost)", "sending TERM instead");
    }

    private void start(Action action, String program) {
        Console console = new Console(System.out, new PrintStream(said, true, StandardCharsets.UTF_8), false, false);
        leaseWatch = new LeaseWatch(hold, tree, new LossPolicy(action, program, GRACE), console);
        leaseWatch.start();
    }

    private String text() {
        return said.toString(StandardCharsets.UTF_8);
    }
}
