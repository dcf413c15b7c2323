package dev.holdfast.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.CliProcess;
import dev.holdfast.cli.CliProcess.Place;
import dev.holdfast.store.sqlite.process.ProcFs;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Tag("process")
class ProcessTreeTest {

    /** Of each test its own: what one leaves behind, should it fail, is nothing to the next. */
    private final String mark = "m" + UUID.randomUUID();

    @TempDir
    Path directory;

    private Place place;

    @BeforeEach
    void open() {
        place = new Place(directory, Map.of("HOLDFAST_HOLD", "outer," + mark));
    }

    @Test
    void followsChildrenAndTheirChildren() {
        try (CliProcess command = start("sh -c 'sleep 1000 & echo $! > started; wait' & wait")) {
            long grandchild = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            ProcessTree tree = tree(command, "unmarked");
            assertThat(pids(tree)).contains(command.pid(), grandchild).hasSize(3);
            assertThat(tree.isGone()).isFalse();
            assertThat(tree.kill(CliProcess.DEADLINE.toNanos())).isTrue();
            assertThat(tree.alive()).isEmpty();
            assertThat(command.exitCode()).isEqualTo(137);
        }
    }

    /** It was seen below the command once; that it belongs to somebody else by now does not matter. */
    @Test
    void remembersWhatHasLeftItsParents() {
        try (CliProcess command =
                start("env -i sh -c 'sleep 1000 & echo $! > started; while [ ! -e go ]; do sleep 0.02; done'")) {
            long sleeper = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            ProcessTree tree = tree(command, "unmarked");
            tree.scan();
            place.script("go", "");
            assertThat(command.exitCode()).isZero();
            assertThat(pids(tree)).containsExactly(sleeper);
            assertThat(tree.kill(CliProcess.DEADLINE.toNanos())).isTrue();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void findsByTheirMarkThoseThatWereNeverSeen() {
        try (CliProcess command = start("setsid sh -c '(echo $$; exec sleep 1000) > started 2>&1 </dev/null &'")) {
            assertThat(command.exitCode()).isZero();
            CliProcess.untilWritten(place.file("started"));
            // It has yet to become the sleeper; meanwhile its membership can't be determined.
            CliProcess.until("it is not taken for another's", tree(command, mark + "2")::isGone);
            CliProcess.until("nor for one whose mark begins alike", tree(command, "m")::isGone);
            ProcessTree tree = tree(command, mark);
            CliProcess.until("it is found", () -> tree.alive().size() == 1);
            assertThat(tree.kill(CliProcess.DEADLINE.toNanos())).isTrue();
        }
    }

    /** While a program is being replaced its environment is empty: here in one of forty scans. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void oneThatBecomesAnotherProgramAllTheTimeIsNeverGone() {
        Path restless = place.script("restless.sh", "exec \"$0\"\n");
        try (CliProcess command = place.startProgram(Child.NOTHING, List.of(restless.toString()))) {
            for (int i = 0; i < 200; i++) {
                ProcFs.Marked marked = ProcessTree.PROC.findMarked("HOLDFAST_HOLD", mark, Integer.MAX_VALUE);
                assertThat(marked.found().stream().anyMatch(one -> one.pid() == command.pid()) || !marked.isComplete())
                        .as("scan %s", i)
                        .isTrue();
            }
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void oneWithoutAnEnvironmentIsNotTakenForIt() {
        try (CliProcess command = place.startProgram(Child.NOTHING, List.of("env", "-i", "/bin/sleep", "1000"))) {
            CliProcess.until("nothing is marked, for sure", () -> {
                ProcFs.Marked marked = ProcessTree.PROC.findMarked("HOLDFAST_HOLD", mark, Integer.MAX_VALUE);
                return marked.isNone();
            });
            assertThat(command.isAlive()).isTrue();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void theDeadAreNotWaitedForThoughTheirParentTakesNoNote() {
        // The child ends; its parent, which became another program, never asks for it.
        try (CliProcess command = start("sh -c 'echo $$ > started' & exec sleep 1000")) {
            long child = Long.parseLong(CliProcess.untilWritten(place.file("started")));
            CliProcess.until("the child is a zombie", () -> ProcessTree.PROC.isZombie(child));
            assertThat(pids(tree(command, mark))).containsExactly(command.pid());
        }
    }

    @Test
    void termReachesAll() {
        try (CliProcess command = start("trap 'exit 3' TERM; sh -c 'sleep 1000 & echo $! > started; wait' & wait")) {
            CliProcess.untilWritten(place.file("started"));
            ProcessTree tree = tree(command, "unmarked");
            tree.terminate();
            assertThat(command.exitCode()).isEqualTo(3);
            CliProcess.until("all are gone", tree::isGone);
        }
    }

    @Test
    void aSignalGoesToTheCommandAndOnceThatIsGoneToTheRest() {
        try (CliProcess command = start(
                "trap 'exit 4' USR1; (trap 'echo usr1 > noted; exit' USR1; echo > started; while :; do sleep 0.02; done) & while :; do sleep 0.02; done")) {
            CliProcess.untilWritten(place.file("started"));
            ProcessTree tree = tree(command, mark);
            tree.scan();
            tree.signal("USR1");
            assertThat(command.exitCode()).isEqualTo(4);
            assertThat(place.file("noted")).doesNotExist();
            tree.signal("USR1");
            CliProcess.untilWritten(place.file("noted"));
            assertThat(tree.kill(CliProcess.DEADLINE.toNanos())).isTrue();
        }
    }

    private CliProcess start(String script) {
        return place.startProgram(Child.NOTHING, List.of("sh", "-c", script));
    }

    private static ProcessTree tree(CliProcess command, String mark) {
        return new ProcessTree(command.handle(), mark);
    }

    private static List<Long> pids(ProcessTree tree) {
        return tree.alive().stream().map(ProcessHandle::pid).toList();
    }
}
