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

    private final Path root;

    /** @param root {@code /proc}, or a directory like it */
    public ProcFs(Path root) {
        this.root = root;
    }

    /** The process that has a number now; empty if none that is alive has it, or nothing can be told. */
    public Optional<Incarnation> find(long pid) {
        try {
            ProcessStat stat = stat(Long.toString(pid));
            return stat.hasEnded() ? Optional.empty() : Optional.of(new Incarnation(pid, stat.started()));
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
            ProcessStat stat = stat(Long.toString(process.pid()));
            return stat.started() == process.started() && !stat.hasEnded() ? State.LIVES : State.GONE;
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

    /**
     * Result of a search for processes with a mark.
     *
     * @param isComplete false if a process was just becoming another program, or the list could not be read: then the
     *     next search will tell
     */
    public record Marked(List<Incarnation> found, boolean isComplete) {

        /** Whether there was surely none. */
        public boolean isNone() {
            return found.isEmpty() && isComplete;
        }
    }

    /**
     * Searches for live processes whose environment, as it was when their program started, holds a mark, among those
     * that can be read.
     *
     * @param variable the name of the environment variable, whose value is a list with commas
     * @param mark the element to search for
     * @param most the search ends with so many of them
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
            isComplete = false; // what was found up to now is true all the same
        }
        return new Marked(all, isComplete);
    }

    /**
     * Whether a process has ended meanwhile, or its environment is not ours to read, or it has none. What failed for
     * another reason, such as a lack of file descriptors, says nothing about the process.
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

    /**
     * The processes that have a lock on any of some bytes of a file, of those that are visible here. None where the
     * system doesn't list locks.
     */
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
            // Some file systems show another device there than the file has.
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

    /** A process in words: its number and its program. */
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

        /** Empty for one that waits, or whose process is not visible here. */
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
     * Whether a process has ended and only waits for its parent to take note. It runs nothing any more, and in a
     * container whose first process takes no note it stays for ever.
     */
    public boolean isZombie(long pid) {
        try {
            return stat(Long.toString(pid)).hasEnded();
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /**
     * Whether a process is in the group that the terminal's keyboard signals go to, as is this one. False where that
     * can't be told.
     */
    public boolean sharesForeground(long pid) {
        try {
            ProcessStat mine = stat("self");
            return mine.isInForeground() && stat(Long.toString(pid)).isInGroupOf(mine);
        } catch (IOException | RuntimeException unreadable) {
            return false;
        }
    }

    /**
     * Whether the system tells the bounds of programs. Where it doesn't, a process without an environment looks for
     * ever as if it were becoming another program, and no search is complete.
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

    /** Whether an environment, each entry ended by a zero character, has the variable, and the mark in its list. */
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
     * Whether a process may only look as if it had no environment, because its program is being replaced. Where the
     * system keeps that to itself, only the lease decides.
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
