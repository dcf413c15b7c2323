package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Sends POSIX signals to processes that a test has started. */
public final class Signals {

    private Signals() {}

    /**
     * Stops a process with SIGSTOP. Returns when none of its threads runs: until one of them gets a processor and
     * handles the signal, the others continue.
     *
     * @throws IllegalStateException if the process has ended, or does not stop within a minute
     */
    public static void pause(ProcessHandle process) {
        send("STOP", process);
        Path threads = Path.of("/proc", String.valueOf(process.pid()), "task");
        if (Files.isDirectory(threads)) {
            Until.await(
                    "process " + process.pid() + " stands",
                    () -> children(threads).stream().allMatch(thread -> isStopped(state(thread))));
        }
    }

    /**
     * Resumes a stopped process with SIGCONT.
     *
     * @throws IllegalStateException if the process has ended
     */
    public static void resume(ProcessHandle process) {
        send("CONT", process);
    }

    /**
     * Sends a signal, without waiting for its effect.
     *
     * @param name the name for {@code kill -s}
     * @throws IllegalStateException if the process has ended
     */
    public static void send(String name, ProcessHandle to) {
        if (!trySend(name, to)) {
            throw new IllegalStateException("Process " + to.pid() + " took no " + name);
        }
    }

    /** Sends a signal, and returns whether the process existed. */
    public static boolean trySend(String name, ProcessHandle to) {
        try {
            return new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + to.pid())
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending " + name, e);
        }
    }

    /** One letter, as the kernel has it: Z for a process that has ended, T for one that is stopped. */
    static String state(ProcessHandle process) {
        String state = state(Path.of("/proc", String.valueOf(process.pid())));
        return state.isEmpty() ? process.isAlive() ? "?" : "Z" : state;
    }

    /** Whether a process or thread in this state can't run: it is stopped or has ended. */
    static boolean isStopped(String state) {
        return "TZ".contains(state); // also an ended thread, whose state is empty
    }

    /** The state of a process or a thread; empty if there is none. */
    private static String state(Path directory) {
        try {
            String stat = Files.readString(directory.resolve("stat"));
            int at = stat.lastIndexOf(") ") + 2;
            return stat.substring(at, at + 1);
        } catch (IOException e) {
            return "";
        }
    }

    private static List<Path> children(Path directory) {
        try (Stream<Path> all = Files.list(directory)) {
            return all.toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
