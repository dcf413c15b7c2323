package dev.holdfast.benchmarks;

import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.Command.Release;
import dev.holdfast.spi.Command.Sending;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.LockStore;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.store.sql.SqliteStore;
import dev.holdfast.store.sql.SqliteStore.Synchronous;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;

/**
 * How near the SQLite store comes to what SQLite itself costs. The floor is two statements by hand, each a commit of its own, on one connection: take and give back. Rounds of the
 * floor and of the store are short and alternate, so that both see the same disk on the same bad day; what is told is the median of their ratios.
 *
 * <p>Arguments: a directory on the disk that is meant (the working directory), the milliseconds of a round (200), the number of rounds (40).
 */
public final class SqliteFloor {

    private static final int LOCKS = 64;

    private final Synchronous synchronous;
    private final Connection hand;
    private final LockStore store;
    private final SessionId session;
    private final long nanos;
    private long claims;

    private SqliteFloor(Path directory, Synchronous synchronous, long nanos) throws SQLException {
        this.synchronous = synchronous;
        this.nanos = nanos;
        this.hand = hand(directory.resolve("hand.db"));
        this.store = SqliteStore.builder(directory.resolve("store.db"))
                .synchronous(synchronous)
                .open();
        Reply opened = send(new Command.OpenSession(Duration.ofHours(1), "floor"));
        this.session = ((Reply.SessionOpened) opened).session();
    }

    /** Runs the measurement and prints what it found. */
    public static void main(String[] args) throws Exception {
        Path where = Path.of(args.length > 0 ? args[0] : ".");
        long nanos = (args.length > 1 ? Long.parseLong(args[1]) : 200) * 1_000_000L;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 40;
        for (Synchronous synchronous : Synchronous.values()) {
            Path directory = Files.createTempDirectory(where, "sqlite-floor");
            new SqliteFloor(directory, synchronous, nanos).compare(rounds);
        }
    }

    private void compare(int rounds) throws Exception {
        double[] floor = new double[rounds];
        double[] one = new double[rounds];
        double[] many = new double[rounds];
        // As many again before, to warm up.
        for (int round = -rounds; round < rounds; round++) {
            double byHand = byHand();
            double oneThread = oneThread();
            double manyThreads = manyThreads();
            if (round >= 0) {
                floor[round] = byHand;
                one[round] = oneThread / byHand;
                many[round] = manyThreads / byHand;
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%s: by hand %.0f pairs/s; the store %.2f of that with one thread, %.2f with %d on as many locks (medians of %d rounds)%n",
                synchronous,
                median(floor),
                median(one),
                median(many),
                LOCKS,
                rounds);
        store.close();
        hand.close();
    }

    private Connection hand(Path file) throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        try (Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA journal_mode = WAL");
            statement.execute("PRAGMA synchronous = " + synchronous);
            statement.execute(
                    "CREATE TABLE lock (name BLOB PRIMARY KEY, owner INTEGER, token INTEGER NOT NULL) WITHOUT ROWID");
            for (int i = 0; i < LOCKS; i++) {
                statement.execute("INSERT INTO lock VALUES (CAST('" + name(i) + "' AS BLOB), NULL, 0)");
            }
        }
        return connection;
    }

    private double byHand() throws SQLException {
        byte[] name = name(0).getBytes(StandardCharsets.UTF_8);
        try (PreparedStatement take = hand.prepareStatement(
                        "UPDATE lock SET owner = ?, token = token + 1 WHERE name = ? AND owner IS NULL");
                PreparedStatement giveBack =
                        hand.prepareStatement("UPDATE lock SET owner = NULL WHERE name = ? AND owner = ?")) {
            long pairs = 0;
            long start = System.nanoTime();
            long now = start;
            for (; now - start < nanos; now = System.nanoTime()) {
                take.setLong(1, pairs);
                take.setBytes(2, name);
                giveBack.setBytes(1, name);
                giveBack.setLong(2, pairs);
                if (take.executeUpdate() != 1 || giveBack.executeUpdate() != 1) {
                    throw new IllegalStateException("not taken");
                }
                pairs++;
            }
            return pairs * 1e9 / (now - start);
        }
    }

    private double oneThread() {
        long pairs = 0;
        long start = System.nanoTime();
        long now = start;
        ResourceName name = new ResourceName(name(0));
        for (; now - start < nanos; now = System.nanoTime()) {
            pair(name, ++claims);
            pairs++;
        }
        return pairs * 1e9 / (now - start);
    }

    private double manyThreads() throws InterruptedException {
        LongAdder pairs = new LongAdder();
        CountDownLatch done = new CountDownLatch(LOCKS);
        long start = System.nanoTime();
        long base = claims;
        claims += 1L << 32;
        for (int i = 0; i < LOCKS; i++) {
            ResourceName name = new ResourceName(name(i));
            long first = base + i * (1L << 24);
            Thread thread = new Thread(() -> {
                for (long claim = first + 1; System.nanoTime() - start < nanos; claim++) {
                    pair(name, claim);
                    pairs.increment();
                }
                done.countDown();
            });
            thread.setDaemon(true);
            thread.start();
        }
        done.await();
        return pairs.sum() * 1e9 / (System.nanoTime() - start);
    }

    private void pair(ResourceName name, long number) {
        ClaimRef claim = new ClaimRef(name, session, number);
        Reply granted =
                send(new Acquire(claim, 0, Sending.FIRST, ResourceSpec.MUTEX, 1, Lease.SESSION, Waiting.QUEUE, 1));
        Reply released = send(new Release(claim));
        if (!(granted instanceof Reply.Granted) || !(released instanceof Reply.Released)) {
            throw new IllegalStateException(granted + " " + released);
        }
    }

    private Reply send(Command command) {
        return store.execute(command, Caller.WAITS).toCompletableFuture().join();
    }

    private static String name(int i) {
        return "orders/" + i;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
