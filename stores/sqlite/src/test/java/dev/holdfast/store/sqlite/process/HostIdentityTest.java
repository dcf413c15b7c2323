package dev.holdfast.store.sqlite.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.spi.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the links of a proc file system can't be made there by everybody")
class HostIdentityTest {

    private static final long UP_NANOS = 1_000_000_000_000L;

    @TempDir
    Path proc;

    private final long pid = ProcessHandle.current().pid();

    @BeforeEach
    void makeProc() throws IOException {
        Files.createDirectories(proc.resolve("sys/kernel/random"));
        Files.createDirectories(proc.resolve("" + pid).resolve("ns"));
        Files.createSymbolicLink(proc.resolve("self"), Path.of("" + pid));
        write("sys/kernel/random/boot_id", "6c5b\n");
        write("uptime", "1000.50 1900.00\n");
        write("self/stat", pid + " (java) S 1 7 7 0 -1 4194304 100 0 0 0 5 3 0 0 20 0 12 0 4711 1 2 3\n");
        write("self/status", "Name:\tjava\nUid:\t1000\t1001\t1001\t1001\n");
        write("self/mountinfo", "22 27 0:21 / " + proc + " rw - proc proc rw\n");
        write("self/timens_offsets", "monotonic           0         0\nboottime            0         0\n");
        link("pid", "pid:[1]");
        link("time", "time:[2]");
        link("time_for_children", "time:[2]");
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(proc.resolve(file), text);
    }

    private void link(String namespace, String to) throws IOException {
        Path link = proc.resolve("self/ns").resolve(namespace);
        Files.deleteIfExists(link);
        Files.createSymbolicLink(link, Path.of(to));
    }

    @Test
    void tellsWhoWeAre() {
        HostIdentity machine = HostIdentity.of(proc, UP_NANOS);

        assertThat(machine.boot()).isEqualTo("6c5b");
        assertThat(machine.hasBootClock()).isTrue();
        assertThat(machine.observes()).isTrue();
        assertThat(machine.self()).isEqualTo(new ProcFs.Incarnation(pid, 4711));
        assertThat(machine.pidNamespace()).isEqualTo("pid:[1]");
        assertThat(machine.timeNamespace()).isEqualTo("time:[2]");
        assertThat(machine.user()).isEqualTo("1000");
        assertThat(machine.hidesOthers()).isFalse();
        assertThat(machine.monotonicOffsetNanos()).isZero();
    }

    /**
     * Falling back to the wall clock for lack of a file descriptor would use another clock than all other processes.
     */
    @ParameterizedTest
    @ValueSource(strings = {"sys/kernel/random/boot_id", "uptime"})
    void whatIsThereAndCantBeReadIsNotTakenForMissing(String file) throws IOException {
        Files.delete(proc.resolve(file));
        Files.createDirectory(proc.resolve(file)); // may be read as far as permissions say

        assertThatThrownBy(() -> HostIdentity.of(proc, UP_NANOS))
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.reason()).isEqualTo(StoreException.Reason.UNAVAILABLE))
                .hasMessageContainingAll(file, "file descriptor");
    }

    @Test
    void aTimeNamespaceIsSeenThrough() throws IOException {
        write("self/timens_offsets", "monotonic      500         7\nboottime       200         0\n");
        write("uptime", "1200.50 1900.00\n");

        HostIdentity machine = HostIdentity.of(proc, UP_NANOS + 500_000_000_007L);

        assertThat(machine.hasBootClock()).isTrue();
        assertThat(machine.monotonicOffsetNanos()).isEqualTo(500_000_000_007L);
    }

    @Test
    void aTimeNamespaceThatCannotBeSeenThroughIsRefused() throws IOException {
        link("time_for_children", "time:[3]");

        assertThatThrownBy(() -> HostIdentity.of(proc, UP_NANOS))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("time namespace");
    }

    @Test
    void aKernelWithoutTimeNamespacesHasOneTime() throws IOException {
        Files.delete(proc.resolve("self/ns/time"));
        Files.delete(proc.resolve("self/timens_offsets"));

        assertThat(HostIdentity.of(proc, UP_NANOS).hasBootClock()).isTrue();
    }

    @Test
    void aClockThatIsAheadOfTheUptimeIsNotTheKernels() {
        assertThat(HostIdentity.of(proc, UP_NANOS + 2_000_000_000L).hasBootClock())
                .isFalse();
        assertThat(HostIdentity.of(proc, -1).hasBootClock()).isFalse();
    }

    @Test
    void withoutBootThereIsOnlyTheWallClockAndNoEvidence() throws IOException {
        Files.delete(proc.resolve("sys/kernel/random/boot_id"));

        HostIdentity machine = HostIdentity.of(proc, UP_NANOS);

        assertThat(machine.hasBootClock()).isFalse();
        assertThat(machine.observes()).isFalse();
    }

    @Test
    void aProcOfAnotherNamespaceIsNoEvidence() throws IOException {
        Files.createDirectories(proc.resolve("1"));
        Files.delete(proc.resolve("self"));
        Files.move(proc.resolve("" + pid), proc.resolve("12345678"));
        Files.createSymbolicLink(proc.resolve("self"), Path.of("12345678"));

        assertThat(HostIdentity.of(proc, UP_NANOS).observes()).isFalse();
    }

    @Test
    void hiddenProcessesAreNoticed() throws IOException {
        write("self/mountinfo", "22 27 0:21 / " + proc + " rw - proc proc rw,hidepid=invisible\n");

        assertThat(HostIdentity.of(proc, UP_NANOS).hidesOthers()).isTrue();
    }
}
