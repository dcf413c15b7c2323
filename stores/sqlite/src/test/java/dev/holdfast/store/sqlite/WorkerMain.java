package dev.holdfast.store.sqlite;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import dev.holdfast.servers.sql.GoodHold;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Another process with a complete client, which executes commands from a test. */
final class WorkerMain {

    private static final int THREADS = 3;

    private final Holdfast holdfast;
    private final AtomicInteger losses = new AtomicInteger();
    private volatile boolean stopped;

    private WorkerMain(Path file, Duration ttl) {
        this.holdfast = Holdfast.builder(SqliteStore.open(file)).sessionTtl(ttl).build();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        String[] words = lines.readLine().split(" ", 3);
        WorkerMain worker = new WorkerMain(Path.of(args[0]), Duration.parse(words[1]));
        switch (words[0]) {
            case "hold" -> worker.hold(lines, new GuardedRow(Path.of(words[2])));
            case "storm" -> worker.storm(lines, Path.of(words[2]));
            default -> throw new IllegalArgumentException(words[0]);
        }
        worker.holdfast.close();
    }

    /** Writes under a lock, and again on the next line, with the same token. */
    private void hold(BufferedReader lines, GuardedRow row) throws Exception {
        GoodHold good = GoodHold.acquired(holdfast, "row");
        Hold hold = good.hold();
        hold.onLost(loss -> losses.incrementAndGet());
        long token = good.token();
        System.out.println("written " + row.write(token, "first"));
        lines.readLine();
        boolean isHeld = hold.isHeld();
        System.out.println("held " + isHeld + ", token "
                + (isRefused(() -> {
                            var unused = hold.fencingToken();
                        })
                        ? "withheld"
                        : "shown")
                + ", written " + row.write(token, "stale") + ", release " + (isRefused(hold::close) ? "lost" : "made"));
        // Listeners run on a separate thread, so the test may ask repeatedly.
        while (lines.readLine() != null) {
            System.out.println("told " + losses.get());
        }
    }

    private static boolean isRefused(Runnable use) {
        try {
            use.run();
            return false;
        } catch (LockLostException e) {
            return true;
        }
    }

    /**
     * Until the next line, several threads enter and leave under a lock, and one interrupts them continually. Each logs
     * its entry and exit with its token, and increments a number in a way that loses increments if two do so
     * concurrently.
     */
    private void storm(BufferedReader lines, Path directory) throws Exception {
        AtomicInteger interrupted = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        DistributedLock lock = holdfast.lock("storm");
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> work(lock, directory, interrupted));
            threads.add(thread);
            thread.start();
        }
        Thread interrupter = new Thread(() -> {
            Random random = new Random(1);
            while (!stopped) {
                threads.get(random.nextInt(THREADS)).interrupt();
                LockSupport.parkNanos(random.nextInt(2_000_000));
            }
        });
        interrupter.start();
        System.out.println("working");
        lines.readLine();
        stopped = true;
        interrupter.join();
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("interrupted " + interrupted.get());
    }

    private void work(DistributedLock lock, Path directory, AtomicInteger interrupted) {
        while (!stopped) {
            try (Hold hold = lock.acquire()) {
                note(directory, '+', hold.fencingToken());
                addOne(directory.resolve("counter"));
                note(directory, '-', hold.fencingToken());
            } catch (InterruptedException e) {
                interrupted.incrementAndGet();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    // One small write each, so that a kill comes before or after it. Not with a channel, which an interrupt would
    // close.
    private static void note(Path directory, char what, long token) throws IOException {
        try (OutputStream log = new FileOutputStream(directory.resolve("log").toFile(), true)) {
            log.write((what + " " + token + "\n").getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static void addOne(Path counter) throws IOException {
        if (Files.notExists(counter)) {
            Files.write(counter, new byte[Long.BYTES], StandardOpenOption.CREATE);
        }
        try (RandomAccessFile file = new RandomAccessFile(counter.toFile(), "rw")) {
            byte[] number = new byte[Long.BYTES];
            file.readFully(number);
            long next = ByteBuffer.wrap(number).getLong() + 1;
            Thread.yield();
            file.seek(0);
            file.write(ByteBuffer.allocate(Long.BYTES).putLong(next).array());
        }
    }
}
