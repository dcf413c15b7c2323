package dev.holdfast.store.sqlite.process;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads what Linux reports about processes, in {@code /proc}.
 *
 * <p>It uses streams, not channels, which an interrupt of the calling thread would close in the middle of a read.
 */
public final class ProcFs {

    /** The mount point on Linux. */
    public static final Path ROOT = Path.of("/proc");

    /** The state of a process that was once seen. */
    public enum State {
        /** It is alive. */
        LIVES,
        /** It has ended. Its number may belong to another process by now. */
        GONE,
        /** Its state cannot be determined. */
        UNKNOWN
    }

    /**
     * A process, distinguished by its start from earlier and later ones with the same number.
     *
     * @param started when it started, in ticks since the boot by the clock of the time namespace
     */
    public record Incarnation(long pid, long started) {}

    private final Path root;

    /** @param root {@code /proc}, or a directory like it */
    public ProcFs(Path root) {
        this.root = root;
    }

    /** The live process with a number; empty if there is none or this is unknown. */
    public Optional<Incarnation> find(long pid) {
        try {
            ProcessStat stat = stat(Long.toString(pid));
            return stat.hasEnded() ? Optional.empty() : Optional.of(new Incarnation(pid, stat.started()));
        } catch (IOException | RuntimeException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * The state of a process.
     *
     * @param visible whether all processes of its user are visible here, so that absence is evidence
     */
    public State stateOf(Incarnation process, boolean visible) {
        try {
            ProcessStat stat = stat(Long.toString(process.pid()));
            return stat.started() == process.started() && !stat.hasEnded() ? State.LIVES : State.GONE;
        } catch (FileNotFoundException e) {
            // Thrown for a missing file and for one that we may not open; it is the latter if the directory exists.
            return visible && !Files.exists(root.resolve(Long.toString(process.pid()))) ? State.GONE : State.UNKNOWN;
        } catch (IOException e) {
            // It ended while we were reading, or the file has an unknown format: the next check decides.
            return State.UNKNOWN;
        } catch (RuntimeException notAStat) {
            return State.UNKNOWN;
        }
    }

    /**
     * The result of a search for processes with a mark.
     *
     * @param isComplete false if a process was just becoming another program, or the list could not be read: then the
     *     next search decides
     */
    public record Marked(List<Incarnation> found, boolean isComplete) {

        /** Whether there was certainly none. */
        public boolean isNone() {
            return found.isEmpty() && isComplete;
        }
    }

    /**
     * Searches the readable environments of live processes, as they were when the programs started, for a mark.
     *
     * @param variable the name of the environment variable, whose value is a comma-separated list
     * @param mark the element to search for
     * @param most the search ends after this many matches
     */
    public Marked findMarked(String variable, String mark, int most) {
        List<Incarnation> all = new ArrayList<>();
        boolean isComplete = true;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root, ProcFs::isProcess)) {
            for (Path entry : entries) {
                long pid = Long.parseLong(entry.getFileName().toString());
                Optional<String> environment = text(pid + "/environ");
                if (environment.isEmpty()) {
                    isComplete &= isOutOfReach(entry);
                    continue;
                }
                if (isListed(environment.get(), variable, mark)) {
                    find(pid).ifPresent(all::add);
                    if (all.size() == most) {
                        return new Marked(all, true);
                    }
                } else if (environment.get().isEmpty() && isBetweenPrograms(pid)) {
                    isComplete = false;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            isComplete = false; // the matches so far are still valid
        }
        return new Marked(all, isComplete);
    }

    /**
     * Whether a process has ended meanwhile, has no environment, or has one that we may not read. A failure for another
     * reason, such as a lack of file descriptors, is no evidence.
     */
    private boolean isOutOfReach(Path process) {
        try (SeekableByteChannel environment = Files.newByteChannel(process.resolve("environ"))) {
            assert environment.isOpen();
            return false;
        } catch (AccessDeniedException | NoSuchFileException e) {
            return true;
        } catch (IOException e) {
            return Files.notExists(process)
                    || hasNoEnvironment(process.getFileName().toString());
        }
    }

    private boolean hasNoEnvironment(String process) {
        try {
            ProcessStat stat = stat(process);
            return stat.isKernelThread() || stat.hasEnded();
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /** The visible processes that have a lock in a range of bytes of a file. None if the system does not list locks. */
    public Set<Long> lockOwners(Path file, long first, long last) {
        try {
            String device = device(((Number) Files.getAttribute(file, "unix:dev")).longValue());
            String inode = ":" + Files.getAttribute(file, "unix:ino");
            List<FileLockLine> locks = text("locks")
                    .orElse("")
                    .lines()
                    .flatMap(line -> FileLockLine.of(line).stream())
                    .filter(lock -> lock.file().endsWith(inode) && lock.first() <= last && lock.last() >= first)
                    .toList();
            // On some file systems the list shows another device than the file's.
            boolean isExact = locks.stream().anyMatch(lock -> lock.file().equals(device + inode));
            return locks.stream()
                    .filter(lock -> !isExact || lock.file().equals(device + inode))
                    .map(FileLockLine::pid)
                    .collect(Collectors.toSet());
        } catch (IOException | UnsupportedOperationException | IllegalArgumentException notUnix) {
            return Set.of();
        }
    }

    private static String device(long number) {
        long major = (number >> 8) & 0xfff;
        long minor = (number & 0xff) | ((number >> 12) & 0xfff00);
        return String.format(Locale.ROOT, "%02x:%02x", major, minor);
    }

    /** A description of a process: its number and its program. */
    public String describe(long pid) {
        String own = pid == ProcessHandle.current().pid() ? ", this one" : "";
        return "process " + pid
                + line(pid + "/comm").map(name -> " (" + name + own + ")").orElse("");
    }

    /**
     * A line of the list of locks, such as {@code 7: POSIX ADVISORY READ 3119 fe:00:2170917 124 124}.
     *
     * @param file device and inode
     */
    private record FileLockLine(long pid, String file, long first, long last) {

        /** Empty for a waiting lock, or one whose process is not visible. */
        static Optional<FileLockLine> of(String line) {
            String[] words = line.split("\\s+", -1);
            if (words.length < 8 || words[1].equals("->") || words[4].startsWith("-") || words[4].equals("0")) {
                return Optional.empty();
            }
            long last = words[7].equals("EOF") ? Long.MAX_VALUE : Long.parseLong(words[7]);
            return Optional.of(new FileLockLine(Long.parseLong(words[4]), words[5], Long.parseLong(words[6]), last));
        }
    }

    /**
     * Whether a process has ended and its parent has not reaped it. It runs nothing, and stays forever in a container
     * whose first process does not reap.
     */
    public boolean isZombie(long pid) {
        try {
            return stat(Long.toString(pid)).hasEnded();
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /** Whether a process is in the terminal's foreground group, as this one is. False if unknown. */
    public boolean sharesForeground(long pid) {
        try {
            ProcessStat self = stat("self");
            return self.isInForeground() && stat(Long.toString(pid)).isInGroupOf(self);
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /**
     * Whether the system shows the memory bounds of programs. If not, a process without an environment always appears
     * to be becoming another program, and no search is complete.
     */
    public boolean showsPrograms() {
        try {
            return stat("self").showsProgram();
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /** The first line of a file below the root; empty if it can't be read. */
    public Optional<String> line(String file) {
        return text(file).map(text -> {
            int end = text.indexOf('\n');
            return (end < 0 ? text : text.substring(0, end)).strip();
        });
    }

    /** A file below the root; empty if it can't be read. */
    public Optional<String> text(String file) {
        try {
            return Optional.of(read(root.resolve(file)));
        } catch (IOException unreadable) {
            return Optional.empty();
        }
    }

    /** The target of a link below the root, such as the name of a namespace; empty if it cannot be read. */
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

    /** Whether an environment, whose entries end with a zero character, has the variable with the mark in its list. */
    static boolean isListed(String environment, String variable, String mark) {
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
     * Whether a process may only appear to have no environment, because its program is being replaced. If the system
     * does not show that, only the lease decides.
     */
    private boolean isBetweenPrograms(long pid) {
        try {
            return stat(Long.toString(pid)).mayBeBetweenPrograms();
        } catch (IOException | RuntimeException endedOrNotAStat) {
            return false;
        }
    }

    private ProcessStat stat(String process) throws IOException {
        return new ProcessStat(read(root.resolve(process).resolve("stat")));
    }

    private static String read(Path file) throws IOException {
        try (InputStream in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }
}
