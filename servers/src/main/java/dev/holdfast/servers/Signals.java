package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** POSIX signals to processes that a test has started. */
public final class Signals {

    private Signals() {}

    /**
     * Stops a process where it stands: SIGSTOP. Returns when none of its threads runs any more. The signal alone only
     * asks for that: until the first thread of the process gets a processor to take it, the others go on.
     *
     * @throws IllegalStateException if the process is gone, or does not stop within a minute
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
     * Lets a process that was stopped go on: SIGCONT.
     *
     * @throws IllegalStateException if the process is gone
     */
    public static void resume(ProcessHandle process) {
        send("CONT", process);
    }

    /**
     * Sends a signal, and does not wait for what it does.
     *
     * @param name as {@code kill -s} takes it
     * @throws IllegalStateException if the process is gone
     */
    public static void send(String name, ProcessHandle to) {
        if (!trySend(name, to)) {
            throw new IllegalStateException("Process " + to.pid() + " took no " + name);
        }
    }

    /** As {@link #send}, and whether the process was there to take it. */
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

    /** Whether who is in this state does nothing until it is told to go on, if ever. */
    static boolean isStopped(String state) {
        return "TZ".contains(state); // also a thread that has gone meanwhile, whose state is empty
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
