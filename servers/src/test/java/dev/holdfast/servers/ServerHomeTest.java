package dev.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("server")
class ServerHomeTest {

    @Test
    void whatAKilledJvmLeftIsCleared() throws IOException {
        Process killed = startJvm();
        ProcessHandle orphan = serverOf(killed);
        killed.destroyForcibly().onExit().join();
        assertThat(orphan.isAlive()).isTrue();

        Process next = startJvm();
        ProcessHandle server = serverOf(next);
        Until.await("the orphan is gone", () -> !orphan.isAlive());
        next.destroy();
        next.onExit().join();
        Until.await("a server ends with its JVM", () -> !server.isAlive());
    }

    /** Starts a server, tells its pid, and stays. */
    static final class StartAndStay {
        private StartAndStay() {}

        public static void main(String[] args) throws InterruptedException {
            RedisServer server = RedisServer.start();
            System.out.println(server.process().pid());
            Thread.currentThread().join();
        }
    }

    private static Process startJvm() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        StartAndStay.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static ProcessHandle serverOf(Process jvm) throws IOException {
        BufferedReader out = jvm.inputReader();
        String line = out.readLine();
        assertThat(line).matches("[0-9]+");
        return ProcessHandle.of(Long.parseLong(line)).orElseThrow();
    }
}
