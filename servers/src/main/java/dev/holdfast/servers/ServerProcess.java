package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The process of a server, with the faults of a test. */
public final class ServerProcess implements AutoCloseable {

    private static final int LOG_SHOWN = 4_000;

    private final Process process;
    private final Path log;
    private volatile boolean isDiskFull;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    static ServerProcess start(Path directory, List<String> command) {
        return start(directory, command, directory.resolve("log"));
    }

    /** Starts a process that appends what it writes to a log, which it may share. */
    static ServerProcess start(Path directory, List<String> command, Path log) {
        try {
            Process process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectInput(Path.of("/dev/null").toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
            ServerProcess server = new ServerProcess(process, log);
            ServerHome.entered(server, directory);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    /** Its process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it runs; a paused one does. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Kills it and all processes that it has started, with SIGKILL. Returns when it has ended. */
    public void kill() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
        awaitEnd();
        children.forEach(child -> Until.await("process " + child.pid() + " is gone", () -> isGone(child)));
    }

    /** Stops it in order, with SIGTERM. Returns when it has ended. */
    public void terminate() {
        process.destroy();
        awaitEnd();
    }

    /** Stops it where it stands, with all processes that it has started: SIGSTOP. Returns when they stand. */
    public void pause() {
        Signals.pause(handle());
        process.descendants().forEach(Signals::pause); // no new ones come from here on
    }

    /** Resumes it with SIGCONT. */
    public void resume() {
        process.descendants().forEach(Signals::resume);
        Signals.resume(handle());
    }

    /**
     * Makes all its writes to files fail, as on a full disk, until it is restarted: sets its limit on the size of
     * files to zero. On Linux alone.
     *
     * @throws IllegalStateException if that is not possible
     */
    public void fillDisk() {
        if (!Command.succeeds("prlimit", "--pid", String.valueOf(pid()), "--fsize=0:")) {
            throw new IllegalStateException("prlimit, of util-linux, sets no limit for process " + pid());
        }
        isDiskFull = true;
    }

    /** Whether its disk was {@linkplain #fillDisk filled}. */
    boolean isDiskFull() {
        return isDiskFull;
    }

    /** Whether it was stopped where it stands. */
    boolean isPaused() {
        return Signals.isStopped(Signals.state(handle()));
    }

    /** The end of what it has written. */
    public String log() {
        try {
            String text = Files.readString(log, StandardCharsets.UTF_8);
            return text.substring(Math.max(0, text.length() - LOG_SHOWN));
        } catch (IOException e) {
            return "(no log: " + e.getMessage() + ")";
        }
    }

    /** The lines with this text in all that it has written, since its first start if it was started again. */
    public List<String> logged(String part) {
        try (Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
            return lines.filter(line -> line.contains(part)).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }

    private void awaitEnd() {
        boolean interrupted = false;
        while (true) {
            try {
                if (!process.waitFor(Until.DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                    throw new IllegalStateException("Process " + pid() + " does not end");
                }
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        ServerHome.left(this);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * An orphan that ended may stand in the list until somebody takes notice, which can take seconds in a container.
     */
    private static boolean isGone(ProcessHandle process) {
        return Signals.state(process).equals("Z");
    }
}
