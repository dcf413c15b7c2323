package dev.holdfast.store.sqlite.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.store.sqlite.process.ProcFs.Incarnation;
import dev.holdfast.store.sqlite.process.ProcFs.State;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ProcFsTest {

    @TempDir
    Path root;

    private ProcFs proc;

    @BeforeEach
    void makeProc() throws IOException {
        proc = new ProcFs(root);
        process(7, "(java)", "S", 12, 4711);
        process(8, "(a b) c) Z 1 (d)", "R", 1, 4712);
        process(9, "(unreaped)", "Z", 1, 4713);
        process(10, "(main thread ended)", "Z", 3, 4714);
        Files.createFile(root.resolve("uptime"));
    }

    private void process(long pid, String name, String state, int threads, long started) throws IOException {
        process(pid, name, state, threads, started, 0x400000, 400, 700, 800);
    }

    private void process(
            long pid,
            String name,
            String state,
            int threads,
            long started,
            long flags,
            long code,
            long environment,
            long end)
            throws IOException {
        Path directory = Files.createDirectory(root.resolve(Long.toString(pid)));
        String before = pid + " " + name + " " + state + " 1 7 7 0 -1 " + flags + " 100 0 0 0 5 3 0 0 20 0 ";
        String between = " 123456 789 18446744073709551615 0 " + code + " 0".repeat(22);
        Files.writeString(
                directory.resolve("stat"),
                before + threads + " 0 " + started + between + " " + environment + " " + end + " 0\n");
    }

    private void environment(long pid, String... variables) throws IOException {
        Files.writeString(
                root.resolve(Long.toString(pid)).resolve("environ"),
                variables.length == 0 ? "" : String.join("\0", variables) + "\0");
    }

    @Test
    void aProcessIsKnownByItsNumberAndItsStart() {
        assertThat(proc.find(7)).contains(new Incarnation(7, 4711));
        assertThat(proc.stateOf(new Incarnation(7, 4711), true)).isEqualTo(State.LIVES);
    }

    @Test
    void aNumberThatWasUsedAgainIsAnotherProcess() {
        assertThat(proc.stateOf(new Incarnation(7, 4000), true)).isEqualTo(State.GONE);
    }

    @Test
    void aNameMayHoldAnything() {
        assertThat(proc.find(8)).contains(new Incarnation(8, 4712));
    }

    @Test
    void whatNobodyHasWaitedForIsGone() {
        assertThat(proc.stateOf(new Incarnation(9, 4713), true)).isEqualTo(State.GONE);
        assertThat(proc.find(9)).isEmpty();
    }

    @Test
    void aProcessWhoseFirstThreadHasEndedLivesInTheOthers() {
        assertThat(proc.stateOf(new Incarnation(10, 4714), true)).isEqualTo(State.LIVES);
    }

    @Test
    void absenceIsEvidenceOnlyWhereTheProcessWouldBeVisible() {
        assertThat(proc.stateOf(new Incarnation(99, 1), true)).isEqualTo(State.GONE);
        assertThat(proc.stateOf(new Incarnation(99, 1), false)).isEqualTo(State.UNKNOWN);
    }

    @Test
    void whatCannotBeReadIsNoEvidence() throws IOException {
        Files.delete(root.resolve("7/stat"));
        assertThat(proc.stateOf(new Incarnation(7, 4711), true)).isEqualTo(State.UNKNOWN);

        Files.writeString(root.resolve("8/stat"), "not a stat");
        assertThat(proc.stateOf(new Incarnation(8, 4712), true)).isEqualTo(State.UNKNOWN);
        assertThat(proc.find(8)).isEmpty();
    }

    @Test
    void aMarkIsAnElementOfTheListInTheVariable() throws IOException {
        environment(7, "PATH=/bin", "HOLD=ha,hb", "LANG=C");
        environment(8, "XHOLD=hx", "OTHER=hb");

        assertThat(proc.findMarked("HOLD", "hb", 1).found()).contains(new Incarnation(7, 4711));
        assertThat(proc.findMarked("HOLD", "ha", 1).found()).contains(new Incarnation(7, 4711));
        assertThat(proc.findMarked("HOLD", "h", 1).isNone()).isTrue();
        assertThat(proc.findMarked("HOLD", "hx", 1).isNone()).isTrue();
    }

    @Test
    void aMarkedProcessThatHasEndedDoesNotCount() throws IOException {
        environment(9, "HOLD=ha");

        assertThat(proc.findMarked("HOLD", "ha", 1).isNone()).isTrue();
    }

    @Test
    void aProcessThatIsBecomingAnotherProgramMayBeMarked() throws IOException {
        process(20, "(new memory)", "R", 1, 1, 0x400000, 0, 0, 0);
        environment(20);
        assertThat(proc.findMarked("HOLD", "ha", 1).isNone()).isFalse();

        environment(7, "HOLD=ha");
        assertThat(proc.findMarked("HOLD", "ha", 1).found()).contains(new Incarnation(7, 4711));
    }

    @Test
    void anEnvironmentThatIsJustBeingLaidOutMayHoldTheMark() throws IOException {
        process(20, "(no variable yet)", "R", 1, 1, 0x400000, 0, 700, 700);
        environment(20);
        assertThat(proc.findMarked("HOLD", "ha", 1).isNone()).isFalse();
    }

    @Test
    void aProcessThatHasJustBecomeAnotherProgramMayBeMarked() throws IOException {
        process(20, "(new environment)", "R", 1, 1, 0x400000, 400, 700, 800);
        environment(20);
        assertThat(proc.findMarked("HOLD", "ha", 1).isNone()).isFalse();
    }

    @Test
    void whoHasNoEnvironmentIsNotMarked() throws IOException {
        process(20, "(env -i)", "S", 1, 1, 0x400000, 400, 700, 700);
        process(21, "(kthreadd)", "S", 1, 1, 0x208040, 0, 0, 0);
        process(22, "(ending)", "R", 1, 1, 0x400004, 0, 0, 0);
        process(23, "(another user's)", "S", 1, 1, 0x400000, 0, 0, 0);
        for (long pid = 20; pid <= 22; pid++) {
            environment(pid);
        }
        assertThat(proc.findMarked("HOLD", "ha", 1).isNone()).isTrue();
    }

    @Test
    void readsEnvironmentsToTheLetter() {
        assertThat(ProcFs.isListed("A=1\0HOLDFAST_HOLD=m1\0B=2\0", "HOLDFAST_HOLD", "m1"))
                .isTrue();
        assertThat(ProcFs.isListed("HOLDFAST_HOLD=m0,m1,m2", "HOLDFAST_HOLD", "m1"))
                .isTrue();
        assertThat(ProcFs.isListed("HOLDFAST_HOLD=m10\0", "HOLDFAST_HOLD", "m1"))
                .isFalse();
        assertThat(ProcFs.isListed("X_HOLDFAST_HOLD=m1\0", "HOLDFAST_HOLD", "m1"))
                .isFalse();
        assertThat(ProcFs.isListed("A=HOLDFAST_HOLD=m1\0", "HOLDFAST_HOLD", "m1"))
                .isFalse();
        assertThat(ProcFs.isListed("", "HOLDFAST_HOLD", "m1")).isFalse();
    }

    /** For example for lack of a file descriptor: a process that could not be read may have the mark. */
    @Test
    void anEnvironmentThatCantBeReadJustNowMakesASearchIncomplete() throws IOException {
        environment(8, "A=b");
        Path unreadable = root.resolve("7/environ");
        Files.createSymbolicLink(unreadable, unreadable);

        assertThat(proc.findMarked("HOLD", "h1", 1).isNone()).isFalse();

        Files.delete(unreadable);
        assertThat(proc.findMarked("HOLD", "h1", 1).isNone()).isTrue();
    }

    /** Newer kernels do not open the environment of these. */
    @Test
    void threadsOfTheKernelHaveNoEnvironment() throws IOException {
        process(2, "(kthreadd)", "S", 1, 1, 0x208040, 0, 0, 0);
        for (int pid : new int[] {2, 9}) {
            Path environment = root.resolve(pid + "/environ");
            Files.createSymbolicLink(environment, environment);
        }

        assertThat(proc.findMarked("HOLD", "h1", 1).isNone()).isTrue();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "files have no numbers there")
    void whoHasLockedSomeBytesOfAFileIsFound() throws IOException {
        Path file = Files.createFile(root.resolve("file"));
        long inode = ((Number) Files.getAttribute(file, "unix:ino")).longValue();
        Files.writeString(
                root.resolve("locks"),
                "1: POSIX  ADVISORY  READ 7 ff:fe:%1$d 124 124\n".formatted(inode)
                        + "2: POSIX  ADVISORY  READ 8 ff:fe:%1$d 128 128\n".formatted(inode)
                        + "2: -> POSIX  ADVISORY  WRITE 9 ff:fe:%1$d 124 124\n".formatted(inode)
                        + "3: POSIX  ADVISORY  READ 10 ff:fe:%1$d9 124 124\n".formatted(inode)
                        + "4: POSIX  ADVISORY  READ 0 ff:fe:%1$d 124 124\n".formatted(inode)
                        + "5: FLOCK  ADVISORY  WRITE 11 ff:fe:%1$d 0 EOF\n".formatted(inode)
                        + "garbage\n");

        assertThat(proc.lockOwners(file, 123, 127)).containsExactlyInAnyOrder(7L, 11L);
        assertThat(proc.lockOwners(root.resolve("missing"), 123, 127)).isEmpty();
        Files.writeString(root.resolve("7/comm"), "java\n");
        assertThat(proc.describe(7)).isEqualTo("process 7 (java)");
        assertThat(proc.describe(8)).isEqualTo("process 8");
    }
}
