package dev.holdfast.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A server's process and what a test may do to it. */
public final class ServerProcess implements AutoCloseable {

    private static final int LOG_SHOWN = 4_000;

    private final Process process;
    private final Path log;

    private ServerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    static ServerProcess start(Path directory, List<String> command) {
        Path log = directory.resolve("log");
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

    /** Ends it as a crash would: SIGKILL. Returns when it is gone. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    /** Ends it in order: SIGTERM. Returns when it is gone. */
    public void terminate() {
        process.destroy();
        awaitEnd();
    }

    /** Stops it where it stands: SIGSTOP. */
    public void pause() {
        signal("STOP");
    }

    /** Lets it go on: SIGCONT. */
    public void resume() {
        signal("CONT");
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

    private void signal(String name) {
        try {
            int code = new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid())
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new IllegalStateException("Process " + pid() + " took no " + name);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending " + name, e);
        }
    }
}
