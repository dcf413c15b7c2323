package dev.holdfast.servers.storm;

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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Another process with clients of its own, whose threads enter a {@link Resource} under locks until a line comes, while
 * one interrupts them.
 */
final class WorkerMain {

    /** A lock whose name begins so is kept for several ttls, others for a moment. */
    static final String KEPT = "kept";

    private static final int TTLS_KEPT = 2;

    /** Most of the time somebody is in, so that a fault is likely to come upon a holder. */
    private static final long MOST_NANOS_INSIDE = 2_000_000;

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static volatile boolean stopped;

    private final Duration ttl;
    private final int port;
    private final AtomicInteger entries = new AtomicInteger();

    /** By the kind of failure. */
    private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();

    private WorkerMain(Duration ttl, int port) {
        this.ttl = ttl;
        this.port = port;
    }

    /** Takes what the constructor of {@link Worker} does. */
    public static void main(String[] args) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1); // seen by the test
        });
        WorkerMain worker = new WorkerMain(Duration.parse(args[1]), Integer.parseInt(args[2]));
        List<String> names = Arrays.asList(args).subList(5, args.length);
        worker.run(args[0], Duration.parse(args[3]), Integer.parseInt(args[4]), names);
    }

    private void run(String uri, Duration interruptEvery, int count, List<String> names) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Holdfast> clients = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            clients.add(open(uri));
        }
        for (Holdfast client : clients) {
            for (String name : names) {
                Thread thread = new Thread(() -> work(client.lock(name)));
                threads.add(thread);
                thread.start();
            }
        }
        Thread interrupter = new Thread(() -> interrupt(threads, interruptEvery));
        interrupter.start();
        System.out.println("working");
        String line = lines.readLine();
        stopped = true;
        interrupter.interrupt();
        interrupter.join();
        for (Thread thread : threads) {
            thread.join();
        }
        clients.forEach(Holdfast::close);
        System.out.println(line + " after " + entries + " entries, failures " + failures);
    }

    private static void interrupt(List<Thread> threads, Duration every) {
        Random random = new Random(1);
        while (!stopped) {
            LockSupport.parkNanos(every.isZero() ? Long.MAX_VALUE : random.nextLong(every.toNanos()));
            threads.get(random.nextInt(threads.size())).interrupt();
        }
    }

    /**
     * A machine that starts several of these, and the servers, may well take longer than the timeouts that faults are
     * to meet.
     */
    private Holdfast open(String uri) {
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

    private void work(DistributedLock lock) {
        try (Socket resource = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(resource.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(resource.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            out.println(lock.name() + " " + ProcessHandle.current().pid());
            while (!stopped) {
                visit(lock, in, out);
            }
        } catch (IOException e) {
            throw new IllegalStateException("The resource is gone", e);
        }
    }

    private void visit(DistributedLock lock, BufferedReader in, PrintStream out) throws IOException {
        try (Hold hold = lock.acquire()) {
            out.println("enter " + hold.fencingToken());
            if (in.readLine().equals("welcome")) {
                entries.incrementAndGet();
                stay(lock.name().startsWith(KEPT) ? TTLS_KEPT * ttl.toNanos() : MOST_NANOS_INSIDE);
            }
            out.println("leave");
            in.readLine();
            out.println(hold.isHeld() ? "good" : "lost");
        } catch (InterruptedException e) {
            // Its claim is withdrawn, and it waits anew.
        } catch (HoldfastException e) {
            // The store is away, or the hold was lost: both are said, and both are what faults are for.
            failures.merge(e.getClass().getSimpleName(), 1, Integer::sum);
        }
    }

    /** At most so long: an interrupt ends it, and so does the end of all. */
    private static void stay(long nanos) {
        long start = System.nanoTime();
        for (long left = nanos; left > 0 && !stopped && !Thread.currentThread().isInterrupted(); ) {
            LockSupport.parkNanos(Math.min(left, PAUSE.toNanos()));
            left = nanos - (System.nanoTime() - start);
        }
    }
}
