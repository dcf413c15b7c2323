package dev.holdfast.store.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads that take turns at one lock. Records the beginning and the end of each turn, as steps of a common count, and
 * whether its hold was valid to the end.
 */
final class LockWorkers implements AutoCloseable {

    private record Turn(long token, long beganAt, long endedAt, boolean isValid) {}

    private final AtomicBoolean isEnding = new AtomicBoolean();
    private final List<CompletableFuture<Void>> workers = new ArrayList<>();
    private final List<Turn> turns = new ArrayList<>();
    private long steps;

    /** Starts a thread of a client, which works until the end through all failures. */
    void start(Holdfast client) {
        workers.add(CompletableFuture.runAsync(() -> work(client), task -> new Thread(task, "worker").start()));
    }

    private void work(Holdfast client) {
        while (!isEnding.get()) {
            try (Hold hold = client.lock("guarded").acquire(Duration.ofSeconds(30))) {
                long beganAt = step();
                long endedAt = step();
                note(new Turn(hold.fencingToken(), beganAt, endedAt, hold.isHeld()));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } catch (RuntimeException e) {
                // A failed request or a lost hold, which the test causes.
            }
        }
    }

    private synchronized long step() {
        return ++steps;
    }

    private synchronized void note(Turn stay) {
        turns.add(stay);
    }

    /** How many holds were valid to their ends. */
    synchronized long validTurns() {
        return turns.stream().filter(Turn::isValid).count();
    }

    /** Fails if two valid holds overlapped, or a later one had a smaller token. */
    synchronized void verify() {
        List<Turn> valid = turns.stream()
                .filter(Turn::isValid)
                .sorted(Comparator.comparingLong(Turn::beganAt))
                .toList();
        for (int i = 1; i < valid.size(); i++) {
            Turn previous = valid.get(i - 1);
            assertThat(valid.get(i).beganAt)
                    .as("a valid hold ends before the next begins")
                    .isGreaterThan(previous.endedAt);
            assertThat(valid.get(i).token).as("tokens of later holds").isGreaterThan(previous.token);
        }
    }

    @Override
    public void close() {
        isEnding.set(true);
        workers.forEach(CompletableFuture::join);
    }
}
