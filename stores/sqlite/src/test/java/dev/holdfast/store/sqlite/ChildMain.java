package dev.holdfast.store.sqlite;

import dev.holdfast.servers.sql.TestClient;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.Signal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Another process with its own store, which executes commands from a test and answers each line with one. */
public final class ChildMain {

    /** The permits of which {@code permit} acquires one. */
    static final ResourceSpec PERMITS = new ResourceSpec(Kind.SEMAPHORE, 2, Order.FAIR);

    private final Path file;
    private final SqliteStore store;
    private final TestClient client;
    private final BlockingQueue<Signal> notifications = new LinkedBlockingQueue<>();
    private ClaimRef claim;
    private Connection reading;

    private ChildMain(Path file) {
        this.file = file;
        this.store = SqliteStore.open(file);
        store.subscribe(notifications::add);
        this.client = new TestClient(store);
        this.claim = client.ref("none");
    }

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ChildMain child = new ChildMain(Path.of(args[0]));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", 2);
            System.out.println(child.answer(words[0], words.length > 1 ? words[1] : ""));
        }
    }

    private String answer(String command, String rest) throws Exception {
        return switch (command) {
            case "acquire" -> acquire(rest, ResourceSpec.MUTEX, Lease.SESSION);
            case "permit" -> acquire(rest, PERMITS, Lease.SESSION);
            case "detached" -> acquire(rest, ResourceSpec.MUTEX, Lease.detached(Duration.ofHours(1)));
            case "hear" -> hear();
            case "read" -> {
                read();
                yield "reading";
            }
            case "await" -> {
                await();
                yield "granted";
            }
            case "keepAlive" -> {
                client.keepAlive();
                yield "alive";
            }
            case "release" -> {
                client.release(claim);
                yield "released";
            }
            case "leaseOnly" -> {
                store.presence().leaseOnly();
                yield "done";
            }
            case "count" -> count(rest);
            case "run" -> run(rest);
            default -> "unknown";
        };
    }

    private String acquire(String name, ResourceSpec spec, Lease lease) {
        claim = client.ref(name);
        notifications.clear();
        return client.acquire(claim, spec, 1, lease) instanceof Reply.Granted ? "granted" : "queued";
    }

    /** Waits for the notification of its grant, and never polls. */
    private String hear() throws InterruptedException {
        for (Signal signal = notifications.poll(1, TimeUnit.MINUTES);
                signal != null;
                signal = notifications.poll(1, TimeUnit.MINUTES)) {
            if (signal instanceof Signal.Granted granted && granted.claim().equals(claim)) {
                return "told";
            }
        }
        return "not told";
    }

    /** Reads in a transaction that stays open. */
    private void read() throws SQLException {
        reading = Database.open(file);
        try (Statement statement = reading.createStatement()) {
            statement.executeUpdate("BEGIN");
            statement.executeQuery("SELECT count(*) FROM holdfast_meta").close();
        }
    }

    /** Waits as clients do: for a notification, or by polling. */
    private void await() throws InterruptedException {
        while (client.poll(claim) instanceof Reply.Queued queued) {
            Signal signal = notifications.poll(queued.recheckIn().toNanos(), TimeUnit.NANOSECONDS);
            if (signal instanceof Signal.Granted granted && granted.claim().equals(claim)) {
                return;
            }
        }
    }

    /**
     * Increments the number in a file repeatedly, in a way that loses increments if another process does so
     * concurrently.
     */
    private String count(String timesAndFile) throws IOException, InterruptedException {
        String[] words = timesAndFile.split(" ", 2);
        Path counter = Path.of(words[1]);
        for (int i = 0; i < Integer.parseInt(words[0]); i++) {
            if (acquire("counter", ResourceSpec.MUTEX, Lease.SESSION).equals("queued")) {
                await();
            }
            int before = Integer.parseInt(Files.readString(counter));
            Thread.yield();
            Files.writeString(counter, Integer.toString(before + 1));
            client.release(claim);
        }
        return "counted";
    }

    /**
     * Runs a command as a wrapper does: the hold lasts for the command even if this process ends. Answers with its
     * process number and its first line.
     */
    private String run(String command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", command);
        store.presence().leaseOnly();
        store.presence().mark(builder.environment());
        Process process = builder.start();
        store.presence().follow(process.pid());
        BufferedReader output =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        return process.pid() + " " + output.readLine();
    }
}
