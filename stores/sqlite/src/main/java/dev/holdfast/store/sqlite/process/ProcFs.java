package dev.holdfast.store.sqlite.process;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What Linux says about processes, in {@code /proc}.
 *
 * <p>Streams, not channels: an interrupt of the calling thread must not close a file in the middle of a look.
 */
public final class ProcFs {

    /** Where Linux mounts it. */
    public static final Path ROOT = Path.of("/proc");

    /** What is known of a process that was once seen. */
    public enum State {
        /** It is there. */
        LIVES,
        /** It has ended. Its number may belong to another process by now. */
        GONE,
        /** It can't be told. */
        UNKNOWN
    }

    /**
     * A process, told apart from an earlier or later one of the same number by its start.
     *
     * @param started when it started, in ticks since the boot by the clock of the time namespace
     */
    public record Incarnation(long pid, long started) {}

    private static final int STATE = 0;
    private static final int FLAGS = 6;
    private static final int THREADS = 17;
    private static final int STARTED = 19;
    private static final int CODE_END = 24;
    private static final int ENVIRONMENT_START = 47;
    private static final int ENVIRONMENT_END = 48;

    // Flags of the kernel for those that have no environment any more, or never had one.
    private static final long EXITING = 0x4;
    private static final long KERNEL_THREAD = 0x200000;

    private final Path root;

    /** @param root {@code /proc}, or a directory like it */
    public ProcFs(Path root) {
        this.root = root;
    }

    /** The process that has a number now; empty if none that is alive has it, or nothing can be told. */
    public Optional<Incarnation> find(long pid) {
        try {
            String[] fields = stat(pid);
            return hasEnded(fields)
                    ? Optional.empty()
                    : Optional.of(new Incarnation(pid, Long.parseLong(fields[STARTED])));
        } catch (IOException | RuntimeException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * What has become of a process.
     *
     * @param visible whether all processes of its user are visible here, so that absence means something
     */
    public State stateOf(Incarnation process, boolean visible) {
        try {
            String[] fields = stat(process.pid());
            boolean same = Long.parseLong(fields[STARTED]) == process.started();
            return same && !hasEnded(fields) ? State.LIVES : State.GONE;
        } catch (FileNotFoundException e) {
            // Thrown for a missing file and for one that we may not open; where the directory is there, it is the
            // latter.
            return visible && !Files.exists(root.resolve(Long.toString(process.pid()))) ? State.GONE : State.UNKNOWN;
        } catch (IOException e) {
            // It ended between our opening and our reading, or the file is not like any that we know: the next look
            // will tell.
            return State.UNKNOWN;
        } catch (RuntimeException notAStat) {
            return State.UNKNOWN;
        }
    }

    /** What a look for a marked process has come to; of many it names one. */
    public record Search(Optional<Incarnation> found, boolean isComplete) {

        /** Whether there was surely none. */
        public boolean isVain() {
            return found.isEmpty() && isComplete;
        }
    }

    /**
     * Looks for a live process whose environment, as it was when its program started, holds a mark, among those that
     * can be read. The search is incomplete if there was none but one was just becoming another program: then the next
     * look will tell.
     *
     * @param variable the name of the environment variable, whose value is a list with commas
     * @param mark the element to look for
     */
    public Search findMarked(String variable, String mark) throws IOException {
        boolean isComplete = true;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root, ProcFs::isProcess)) {
            for (Path entry : entries) {
                long pid = Long.parseLong(entry.getFileName().toString());
                Optional<String> environment = text(pid + "/environ");
                if (environment.isEmpty()) {
                    continue; // it has ended meanwhile, or is not ours to read
                }
                if (isListed(environment.get(), variable, mark)) {
                    Optional<Incarnation> found = find(pid);
                    if (found.isPresent()) {
                        return new Search(found, true);
                    }
                } else if (environment.get().isEmpty() && isBetweenPrograms(pid)) {
                    isComplete = false;
                }
            }
            return new Search(Optional.empty(), isComplete);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** The first line of a file below the root; empty if it can't be read. */
    public Optional<String> line(String file) {
        return text(file).map(text -> text.lines().findFirst().orElse("").strip());
    }

    /** A file below the root; empty if it can't be read. */
    public Optional<String> text(String file) {
        try {
            return Optional.of(read(root.resolve(file)));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** Where a link below the root points, such as the name of a namespace; empty if it can't be read. */
    public Optional<String> link(String file) {
        try {
            return Optional.of(Files.readSymbolicLink(root.resolve(file)).toString());
        } catch (IOException | UnsupportedOperationException unreadable) {
            return Optional.empty();
        }
    }

    private static boolean isProcess(Path entry) {
        String name = entry.getFileName().toString();
        return name.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    private static boolean isListed(String environment, String variable, String mark) {
        String entries = "\0" + environment;
        int begin = entries.indexOf("\0" + variable + "=");
        if (begin < 0) {
            return false;
        }
        int value = begin + variable.length() + 2;
        int end = entries.indexOf('\0', value);
        String list = entries.substring(value, end < 0 ? entries.length() : end);
        return ("," + list + ",").contains("," + mark + ",");
    }

    /**
     * Whether a process may only look as if it had no environment, because its program is being replaced: the new one
     * has its memory before it has its environment, and that before the bounds of its code are known. Where the system
     * keeps these to itself, only the lease decides.
     */
    private boolean isBetweenPrograms(long pid) {
        try {
            String[] fields = stat(pid);
            boolean isKnownToBeEmpty =
                    !fields[CODE_END].equals("0") && fields[ENVIRONMENT_START].equals(fields[ENVIRONMENT_END]);
            return (Long.parseLong(fields[FLAGS]) & (EXITING | KERNEL_THREAD)) == 0 && !isKnownToBeEmpty;
        } catch (IOException | RuntimeException endedOrNotAStat) {
            return false;
        }
    }

    /**
     * The fields from the third on. The second, the name in parentheses, may hold anything, parentheses and blanks too.
     */
    private String[] stat(long pid) throws IOException {
        String stat = read(root.resolve(Long.toString(pid)).resolve("stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    }

    /** A process that nobody has waited for yet, and that has no thread left, can't do anything any more. */
    private static boolean hasEnded(String[] fields) {
        boolean zombie = fields[STATE].equals("Z") || fields[STATE].equals("X");
        return zombie && Long.parseLong(fields[THREADS]) <= 1;
    }

    private static String read(Path file) throws IOException {
        try (InputStream in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }
}
