package dev.holdfast.store.sqlite.process;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The mounts of a Linux system, in the form of {@code /proc/self/mountinfo}.
 *
 * <p>SQLite needs file locks and shared memory that work for every process that uses the file. Over a network, or
 * between a virtual machine and its host, they do not work, and mutual exclusion is lost without an error.
 */
public final class MountTable {

    private static final Set<String> SHARED_BETWEEN_MACHINES = Set.of(
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smbfs",
            "9p",
            "virtiofs",
            "afs",
            "ceph",
            "coda",
            "gfs2",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "ocfs2",
            "orangefs",
            "prl_fs",
            "pvfs2",
            "beegfs",
            "vboxsf",
            "vmhgfs",
            "fuse.sshfs",
            "fuse.ceph",
            "fuse.glusterfs",
            "fuse.s3fs",
            "fuse.gcsfuse",
            "fuse.rclone",
            "fuse.davfs",
            "fuse.davfs2",
            "fuse.curlftpfs",
            "fuse.smbnetfs",
            "fuse.nfs",
            "fuse.grpcfuse",
            "fuse.osxfs",
            "fuse.vmhgfs-fuse",
            "fuse.moosefs",
            "fuse.mfs",
            "fuse.juicefs",
            "fuse.seaweedfs",
            "fuse.blobfuse2");

    private final String mountinfo;

    /** @param mountinfo the text of {@code /proc/self/mountinfo} */
    public MountTable(String mountinfo) {
        this.mountinfo = mountinfo;
    }

    /** The type of the file system of a path, if several hosts may share it. */
    public Optional<String> sharedFileSystem(Path realPath) {
        return line(realPath).map(MountTable::type).filter(SHARED_BETWEEN_MACHINES::contains);
    }

    /** Whether something is mounted at the path itself, such as a single file in a container. */
    public boolean isMountPoint(Path realPath) {
        return line(realPath).map(MountTable::point).filter(realPath::equals).isPresent();
    }

    /** Whether the processes of other users may be invisible in a proc file system, so that absence is no evidence. */
    boolean hidesProcesses(Path proc) {
        return line(proc)
                .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                .filter(options -> options.contains("hidepid=")
                        && !options.contains("hidepid=0")
                        && !options.contains("hidepid=off"))
                .isPresent();
    }

    // A later mount on the same point covers the earlier one.
    private Optional<String> line(Path path) {
        String found = null;
        Path deepest = null;
        for (String line : mountinfo.split("\n", -1)) {
            String[] fields = line.split(" ", -1);
            if (fields.length >= 10) {
                Path point = point(line);
                if (path.startsWith(point) && (deepest == null || point.startsWith(deepest))) {
                    deepest = point;
                    found = line;
                }
            }
        }
        return Optional.ofNullable(found);
    }

    private static Path point(String line) {
        return Path.of(unescaped(line.split(" ", -1)[4]));
    }

    /** The field after the dash that ends the optional fields. */
    private static String type(String line) {
        String rest = line.substring(line.indexOf(" - ") + 3);
        int end = rest.indexOf(' ');
        return end < 0 ? rest : rest.substring(0, end);
    }

    /** Blanks, tabs, line ends and backslashes are written as three octal digits. */
    private static String unescaped(String field) {
        if (field.indexOf('\\') < 0) {
            return field;
        }
        byte[] in = field.getBytes(StandardCharsets.UTF_8);
        byte[] out = new byte[in.length];
        int length = 0;
        for (int i = 0; i < in.length; i++) {
            if (in[i] == '\\' && i + 3 < in.length) {
                out[length++] = (byte) ((in[i + 1] - '0') * 64 + (in[i + 2] - '0') * 8 + (in[i + 3] - '0'));
                i += 3;
            } else {
                out[length++] = in[i];
            }
        }
        return new String(out, 0, length, StandardCharsets.UTF_8);
    }
}
