package dev.holdfast.verification.client;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** A separate program that opens and closes clients as its input says, and prints what the process has then. */
final class ClosedStoresMain {

    /** What drivers have logged as errors. */
    private static final Queue<String> ERRORS = new ConcurrentLinkedQueue<>();

    private static final Logger ROOT = Logger.getLogger("");

    private ClosedStoresMain() {}

    public static void main(String[] args) throws Exception {
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        ROOT.addHandler(new Errors());
        List<Holdfast> open = new ArrayList<>();
        // With time for a busy machine.
        Duration storeTimeout = Duration.parse(args.length > 1 ? args[1] : "PT1M");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            switch (line) {
                case "open" ->
                    open.add(
                            Holdfast.builder(args[0]).storeTimeout(storeTimeout).build());
                case "use" -> use(open);
                case "close" -> open.remove(open.size() - 1).close();
                case "tell" -> {}
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println(String.join("|", threads()) + ";" + String.join("|", files()) + ";" + ERRORS);
        }
    }

    /** Does with each client what brings threads and connections along. */
    private static void use(List<Holdfast> open) throws Exception {
        for (Holdfast holdfast : open) {
            try (Hold hold = holdfast.lock("used").acquire()) {
                var queued = open.get(0).lock("used").acquireAsync();
                hold.close();
                queued.toCompletableFuture().get().close();
            }
        }
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .sorted()
                .toList();
    }

    /** Without what the JVM opens for a moment all the time: its control group's limits, for the compiler's threads. */
    private static List<String> files() throws IOException {
        List<String> files = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path entry : entries) {
                try {
                    String file = Files.readSymbolicLink(entry).toString();
                    if (!file.startsWith("/sys/fs/cgroup/")) {
                        files.add(file);
                    }
                } catch (NoSuchFileException closedMeanwhile) {
                    continue;
                }
            }
        }
        return files;
    }

    private static final class Errors extends Handler {
        @Override
        public void publish(LogRecord entry) {
            if (entry.getLevel().intValue() >= Level.SEVERE.intValue()) {
                String text = entry.getLoggerName() + " " + entry.getMessage() + " " + entry.getThrown();
                ERRORS.add(text.replaceAll("[\\n;]", " "));
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
