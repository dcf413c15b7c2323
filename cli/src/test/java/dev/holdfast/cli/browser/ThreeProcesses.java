package dev.holdfast.cli.browser;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockLostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

/** Three processes that deadlock, as clients with a thread each: each holds a name and waits for the next one's. */
final class ThreeProcesses implements AutoCloseable {

    static final List<String> NAMES = List.of("ledger/eu", "ledger/us", "fx-rates");

    private static final List<String> LABELS = List.of("ledger@app-06", "ledger@app-08", "treasury@app-09");

    private final CountDownLatch held = new CountDownLatch(NAMES.size());
    private final List<Thread> threads = new ArrayList<>();

    ThreeProcesses(Function<String, Holdfast> clients) {
        for (int i = 0; i < NAMES.size(); i++) {
            Holdfast client = clients.apply(LABELS.get(i));
            String first = NAMES.get(i);
            String second = NAMES.get((i + 1) % NAMES.size());
            Thread thread = new Thread(() -> acquireBoth(client, first, second), "transfer-" + i);
            thread.start();
            threads.add(thread);
        }
    }

    private void acquireBoth(Holdfast client, String first, String second) {
        try (Hold hold = client.lock(first).acquire()) {
            held.countDown();
            held.await();
            Optional<Hold> other = client.lock(second).tryAcquire(Duration.ofMinutes(2));
            other.ifPresent(Hold::close);
        } catch (LockLostException e) {
            // Released by force, as the test wants it.
        } catch (InterruptedException e) {
            // Released.
        }
    }

    /** Whether all of them have ended, or do so soon. */
    boolean isOver() throws InterruptedException {
        for (Thread thread : threads) {
            thread.join(30_000);
        }
        return threads.stream().noneMatch(Thread::isAlive);
    }

    /** Ends what is left of the deadlock. */
    void release() throws InterruptedException {
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Override
    public void close() {
        try {
            release();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
