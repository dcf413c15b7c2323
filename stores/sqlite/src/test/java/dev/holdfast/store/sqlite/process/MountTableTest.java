package dev.holdfast.store.sqlite.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountTableTest {

    private static final MountTable MOUNTS = new MountTable("""
            22 27 0:21 / /proc rw,relatime - proc proc rw
            27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
            31 27 0:40 / /home rw,relatime shared:7 master:2 - nfs4 server:/export/home rw,vers=4.2
            32 31 0:41 / /home/local rw,relatime - ext4 /dev/vdb rw
            33 27 0:42 / /mnt/with\\040blank rw - fuse.sshfs someone@host:/ rw
            34 27 0:43 / /shares rw - cifs //server/share rw
            35 27 0:44 / /shares rw - tmpfs tmpfs rw
            36 27 0:45 / /vm rw - 9p hostshare rw
            37 27 0:46 / /disk rw - fuseblk /dev/sdb1 rw
            38 27 254:0 /var/lib/shop/locks.db /data/locks.db rw - ext4 /dev/vda rw
            """);

    @ParameterizedTest
    @CsvSource({
        "/var/lib/locks.db, ",
        "/home/ann/locks.db, nfs4",
        "/homework/locks.db, ",
        "/home/local/locks.db, ",
        "/mnt/with blank/locks.db, fuse.sshfs",
        "/mnt/locks.db, ",
        "/vm/locks.db, 9p",
        "/disk/locks.db, ",
    })
    void tellsWhatSeveralMachinesShare(String file, String type) {
        assertThat(MOUNTS.sharedFileSystem(Path.of(file))).isEqualTo(Optional.ofNullable(type));
    }

    @Test
    void aLaterMountCoversAnEarlierOneOnTheSamePoint() {
        assertThat(MOUNTS.sharedFileSystem(Path.of("/shares/locks.db"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"/data/locks.db, true", "/data/locks.db2, false", "/data, false", "/disk/locks.db, false"})
    void tellsWhatIsMountedByItself(String file, boolean mounted) {
        assertThat(MOUNTS.isMountPoint(Path.of(file))).isEqualTo(mounted);
    }

    @Test
    void whatIsNoMountinfoTellsNothing() {
        assertThat(new MountTable("").sharedFileSystem(Path.of("/x"))).isEmpty();
        assertThat(new MountTable("nonsense\n1 2 3\n").sharedFileSystem(Path.of("/x")))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "rw, false",
        "'rw,hidepid=2', true",
        "'rw,hidepid=invisible', true",
        "'rw,hidepid=0', false",
        "'rw,hidepid=off', false"
    })
    void tellsWhetherProcessesAreHidden(String options, boolean hidden) {
        MountTable mounts = new MountTable("22 27 0:21 / /proc rw,nosuid,relatime shared:5 - proc proc " + options);

        assertThat(mounts.hidesProcesses(Path.of("/proc"))).isEqualTo(hidden);
    }
}
