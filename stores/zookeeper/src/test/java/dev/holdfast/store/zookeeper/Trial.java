package dev.holdfast.store.zookeeper;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.HoldfastException;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Clients that acquire and release one lock again and again, with a {@link HoldObserver}. */
final class Trial implements AutoCloseable {

    /** Shorter than usual, so that a test does not wait for long; long enough for a fail-over. */
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final Duration TTL = Duration.ofSeconds(8);
    private static final Duration DEADLINE = Duration.ofMinutes(5);
    private static final int CLIENTS = 3;
    private static final int VISITS = 20;

    private final HoldObserver observer = new HoldObserver();
    private final List<Holdfast> clients = new ArrayList<>();
    private final List<Thread> workers = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** The last failure of each client, for the report if there is no progress. */
    private final Map<String, String> refusals = new ConcurrentHashMap<>();

    private volatile boolean isOver;

    Trial(String servers, String root) {
        for (int i = 0; i < CLIENTS; i++) {
            Holdfast client = client(store(servers, root));
            clients.add(client);
            Thread worker = new Thread(() -> work(client), "worker-" + i);
            workers.add(worker);
            worker.start();
        }
    }

    static ZooKeeperStore store(String servers, String root) {
        return patient(ZooKeeperStore.builder(servers).sessionTimeout(TIMEOUT))
                .root(root)
                .open();
    }

    static ZooKeeperStore.Builder patient(ZooKeeperStore.Builder builder) {
        return builder.connectTimeout(Duration.ofMinutes(1)).tickTime(Duration.ofMillis(100));
    }

    static Holdfast client(ZooKeeperStore store) {
        return Holdfast.builder(store).sessionTtl(TTL).build();
    }

    static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new AssertionError("After " + DEADLINE + " it is still not so that " + what);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    static boolean canAcquire(Holdfast client, String name) {
        return canAcquireAbove(0, client, name);
    }

    /** Whether the client is granted the lock, which then has to carry a higher token than the one before. */
    static boolean canAcquireAbove(long token, Holdfast client, String name) {
        try (Hold hold = client.lock(name).acquire(Duration.ofSeconds(10))) {
            if (hold.fencingToken() <= token) {
                throw new AssertionError("Token " + hold.fencingToken() + " was granted after " + token);
            }
            return hold.isHeld();
        } catch (HoldfastException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private void work(Holdfast client) {
        while (!isOver) {
            try (Hold hold = client.lock("contended").acquire(Duration.ofSeconds(20))) {
                long token = hold.fencingToken();
                try (HoldObserver.Visit visit = observer.enter(hold, token)) {
                    LockSupport.parkNanos(1_000_000);
                }
            } catch (HoldfastException e) {
                refusals.put(Thread.currentThread().getName(), LocalTime.now() + " " + e);
                LockSupport.parkNanos(10_000_000); // lost, late, or no majority just now
            } catch (Throwable t) {
                failure.compareAndSet(null, t);
                return;
            }
        }
    }

    /** Waits until the lock has gone round some times more. */
    void awaitVisits() {
        int before = observer.visits();
        try {
            until("the lock goes round", () -> observer.visits() >= before + VISITS || failure.get() != null);
        } catch (AssertionError e) {
            int visits = observer.visits() - before;
            throw new AssertionError(LocalTime.now() + ": " + visits + " visits, " + refusals, e);
        }
        observer.verify();
    }

    @Override
    public void close() throws InterruptedException {
        isOver = true;
        for (Thread worker : workers) {
            worker.join();
        }
        clients.forEach(Holdfast::close);
        observer.verify();
        Throwable thrown = failure.get();
        if (thrown != null) {
            throw new AssertionError(thrown);
        }
    }
}
