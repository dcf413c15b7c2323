package dev.holdfast.cli;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The little that is read from {@code /proc}. Where there is none, nothing is found, and callers go by what {@link
 * ProcessHandle} knows.
 *
 * <p>Streams, not channels: an interrupt must not close a file in the middle of a look.
 */
final class ProcFs {

    private static final Path ROOT = Path.of("/proc");

    // Positions in /proc/PID/stat after the command name, which is in parentheses and may hold anything.
    private static final int STATE = 0;
    private static final int GROUP = 2;
    private static final int TERMINAL_GROUP = 5;
    private static final int FLAGS = 6;
    private static final int THREADS = 17;
    private static final int CODE_END = 24;
    private static final int ENVIRONMENT_START = 47;
    private static final int ENVIRONMENT_END = 48;

    // Flags of the kernel for those that have no environment any more, or never had one.
    private static final long EXITING = 0x4;
    private static final long KERNEL_THREAD = 0x200000;

    /**
     * What a look at all processes has found.
     *
     * @param isComplete whether all could be told; if not, one was just becoming another program, and the next look
     *     tells
     */
    record Marked(List<Long> pids, boolean isComplete) {}

    private ProcFs() {}

    /**
     * Whether a process has ended and only waits for its parent to take note. It runs nothing any more, and in a
     * container whose first process takes no note it stays for ever.
     */
    static boolean isZombie(long pid) {
        String[] stat = stat(Long.toString(pid));
        return stat != null
                && (stat[STATE].equals("Z") || stat[STATE].equals("X"))
                // One whose first thread has ended looks the same while others run on.
                && Long.parseLong(stat[THREADS]) <= 1;
    }

    /**
     * Whether a process is in the group that the terminal's keyboard signals go to, as is this one. False where that
     * can't be told.
     */
    static boolean sharesForeground(long pid) {
        String[] mine = stat("self");
        String[] its = stat(Long.toString(pid));
        return mine != null
                && its != null
                && mine[GROUP].equals(mine[TERMINAL_GROUP])
                && its[GROUP].equals(mine[GROUP]);
    }

    /**
     * The processes in whose environment, as it was when their program started, a variable lists a mark; those that we
     * may not read are left out.
     *
     * @param variable its value is a list with commas
     */
    static Marked marked(String variable, String mark) {
        List<Long> found = new ArrayList<>();
        boolean isComplete = true;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(ROOT)) {
            for (Path process : all) {
                long pid = pid(process.getFileName().toString());
                String environment = pid == 0 ? null : environment(process);
                if (environment == null) {
                    continue;
                }
                if (isListed(environment, variable, mark)) {
                    found.add(pid);
                } else if (environment.isEmpty() && isBetweenPrograms(stat(Long.toString(pid)))) {
                    isComplete = false;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return new Marked(found, isComplete); // what was found up to now is true all the same
        }
        return new Marked(found, isComplete || !tellsBounds(stat("self")));
    }

    /**
     * Whether a process may only look as if it had no environment, because its program is being replaced: the new one
     * has its memory before it has its environment, and that before the bounds of its code are known.
     */
    private static boolean isBetweenPrograms(String @Nullable [] stat) {
        return stat != null
                && stat.length > ENVIRONMENT_END
                && (Long.parseLong(stat[FLAGS]) & (EXITING | KERNEL_THREAD)) == 0
                && !(tellsBounds(stat) && stat[ENVIRONMENT_START].equals(stat[ENVIRONMENT_END]));
    }

    /** False for a process that is just getting its program, and for all where the system keeps it to itself. */
    private static boolean tellsBounds(String @Nullable [] stat) {
        return stat != null && stat.length > CODE_END && !stat[CODE_END].equals("0");
    }

    /** Whether an environment, each entry ended by a zero character, has the variable, and the mark in its list. */
    static boolean isListed(String environment, String variable, String mark) {
        String entries = "\0" + environment;
        int start = entries.indexOf("\0" + variable + "=");
        if (start < 0) {
            return false;
        }
        int value = start + variable.length() + 2;
        int end = entries.indexOf('\0', value);
        return ("," + entries.substring(value, end < 0 ? entries.length() : end) + ",").contains("," + mark + ",");
    }

    /** Null for a process that has ended meanwhile, or that belongs to someone else. */
    private static @Nullable String environment(Path process) {
        try {
            return read(process.resolve("environ"));
        } catch (IOException e) {
            return null;
        }
    }

    private static String @Nullable [] stat(String process) {
        try {
            String text = read(ROOT.resolve(process).resolve("stat"));
            int end = text.lastIndexOf(')');
            return end < 0 ? null : text.substring(end + 2).split(" ");
        } catch (IOException e) {
            return null;
        }
    }

    private static String read(Path file) throws IOException {
        try (InputStream in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    /** The number that a directory entry stands for; 0 if it is none. */
    private static long pid(String name) {
        long pid = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c < '0' || c > '9' || i > 10) {
                return 0;
            }
            pid = pid * 10 + (c - '0');
        }
        return pid;
    }
}
