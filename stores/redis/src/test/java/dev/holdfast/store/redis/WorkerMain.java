package dev.holdfast.store.redis;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import dev.holdfast.StoreUnavailableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Another process with a client of its own, whose threads enter a {@link Resource} under a lock until a line comes,
 * while one interrupts them.
 */
final class WorkerMain {

    private static final int THREADS = 3;

    /** Most of the time somebody is in, so that a fault is likely to come upon a holder. */
    private static final long MOST_NANOS_INSIDE = 2_000_000;

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static volatile boolean stopped;

    private WorkerMain() {}

    /**
     * Takes the URI of the store, the time-to-live of the session, the port of the resource, and what the lock is
     * called.
     */
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        AtomicInteger entries = new AtomicInteger();
        AtomicInteger failures = new AtomicInteger();
        try (Holdfast holdfast = open(args[0], Duration.parse(args[1]))) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> work(holdfast.lock(args[3]), args[2], entries, failures));
                threads.add(thread);
                thread.start();
            }
            Thread interrupter = new Thread(() -> {
                Random random = new Random(1);
                while (!stopped) {
                    threads.get(random.nextInt(THREADS)).interrupt();
                    LockSupport.parkNanos(random.nextInt(20_000_000));
                }
            });
            interrupter.start();
            System.out.println("working");
            String line = lines.readLine();
            stopped = true;
            interrupter.join();
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(line + " after " + entries.get() + " entries, " + failures.get() + " failures");
        }
    }

    /**
     * A machine that starts several of these, and the servers, may well take longer than the timeouts that faults are
     * to meet.
     */
    private static Holdfast open(String uri, Duration ttl) {
        long start = System.nanoTime();
        while (true) {
            try {
                return Holdfast.builder(uri).sessionTtl(ttl).build();
            } catch (StoreUnavailableException e) {
                if (System.nanoTime() - start > PATIENCE.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    private static void work(DistributedLock lock, String port, AtomicInteger entries, AtomicInteger failures) {
        try (Socket resource = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(resource.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(resource.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            while (!stopped) {
                boolean interrupted = visit(lock, in, out, entries, failures);
                if (interrupted && Thread.interrupted()) {
                    Thread.yield();
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("The resource is gone", e);
        }
    }

    /** Whether it was interrupted. */
    private static boolean visit(
            DistributedLock lock, BufferedReader in, PrintStream out, AtomicInteger entries, AtomicInteger failures)
            throws IOException {
        try (Hold hold = lock.acquire()) {
            out.println("enter " + hold.fencingToken() + " "
                    + ProcessHandle.current().pid());
            if (in.readLine().equals("welcome")) {
                entries.incrementAndGet();
                LockSupport.parkNanos(MOST_NANOS_INSIDE);
            }
            out.println("leave");
            in.readLine();
            out.println(hold.isHeld() ? "good" : "lost");
            return false;
        } catch (InterruptedException e) {
            return true;
        } catch (HoldfastException e) {
            // The store is away, or the hold was lost: both are said, and both are what faults are for.
            failures.incrementAndGet();
            return false;
        }
    }
}
