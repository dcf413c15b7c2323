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
 * A process whose clients' threads acquire locks and report to a {@link Witness} until a line comes from standard
 * input. Another thread interrupts them.
 */
final class WorkerMain {

    /** Locks whose names begin with this are held for several ttls, others for a moment. */
    static final String KEPT = "kept";

    private static final int TTLS_KEPT = 2;

    /** Long enough for a lock to be held most of the time, so that a fault is likely to meet a holder. */
    private static final long HOLD_NANOS = 2_000_000;

    private static final Duration OPEN_TIMEOUT = Duration.ofMinutes(3);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private static volatile boolean stopped;

    private final Duration ttl;
    private final int port;
    private final AtomicInteger entries = new AtomicInteger();

    /** How often each kind of exception was thrown. */
    private final Map<String, Integer> failures = new ConcurrentSkipListMap<>();

    private WorkerMain(Duration ttl, int port) {
        this.ttl = ttl;
        this.port = port;
    }

    /** Takes the arguments of the constructor of {@link Worker}. */
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

    /** Retries, because several of these processes and the servers start together, which may exceed the time-outs. */
    private Holdfast open(String uri) {
        long start = System.nanoTime();
        while (true) {
            try {
                return Holdfast.builder(uri).sessionTtl(ttl).build();
            } catch (StoreUnavailableException e) {
                if (System.nanoTime() - start > OPEN_TIMEOUT.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    private void work(DistributedLock lock) {
        try (Socket witness = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(witness.getInputStream(), StandardCharsets.US_ASCII));
                PrintStream out = new PrintStream(witness.getOutputStream(), true, StandardCharsets.US_ASCII)) {
            out.println(lock.name() + " " + ProcessHandle.current().pid());
            while (!stopped) {
                visit(lock, in, out);
            }
        } catch (IOException e) {
            throw new IllegalStateException("The witness is gone", e);
        }
    }

    private void visit(DistributedLock lock, BufferedReader in, PrintStream out) throws IOException {
        try (Hold hold = lock.acquire()) {
            out.println("enter " + hold.fencingToken());
            if (in.readLine().equals("welcome")) {
                entries.incrementAndGet();
                keep(lock.name().startsWith(KEPT) ? TTLS_KEPT * ttl.toNanos() : HOLD_NANOS);
            }
            out.println("leave");
            in.readLine();
            out.println(hold.isHeld() ? "good" : "lost");
        } catch (InterruptedException e) {
            // The claim was withdrawn; the thread makes another.
        } catch (HoldfastException e) {
            // The store was unreachable, or the hold was lost: faults cause both.
            failures.merge(e.getClass().getSimpleName(), 1, Integer::sum);
        }
    }

    /** Keeps the lock for a time, or until an interrupt or the end of the process. */
    private static void keep(long nanos) {
        long start = System.nanoTime();
        for (long left = nanos; left > 0 && !stopped && !Thread.currentThread().isInterrupted(); ) {
            LockSupport.parkNanos(Math.min(left, PAUSE.toNanos()));
            left = nanos - (System.nanoTime() - start);
        }
    }
}
