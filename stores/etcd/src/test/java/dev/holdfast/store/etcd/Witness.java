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
 * Workers that take turns at one lock, and what they did: when each came and went, in the order in which it was heard
 * here, and whether its hold was good to the end.
 */
final class Witness implements AutoCloseable {

    private record Stay(long token, long came, long went, boolean isGood) {}

    private final AtomicBoolean isEnding = new AtomicBoolean();
    private final List<CompletableFuture<Void>> workers = new ArrayList<>();
    private final List<Stay> stays = new ArrayList<>();
    private long steps;

    /** Lets a client work from now on, through whatever happens to it. */
    void employ(Holdfast client) {
        workers.add(CompletableFuture.runAsync(() -> work(client), task -> new Thread(task, "worker").start()));
    }

    private void work(Holdfast client) {
        while (!isEnding.get()) {
            try (Hold hold = client.lock("guarded").acquire(Duration.ofSeconds(30))) {
                long came = step();
                long went = step();
                note(new Stay(hold.fencingToken(), came, went, hold.isHeld()));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } catch (RuntimeException e) {
                // A request that failed, or a hold that was lost: what the test brings about.
            }
        }
    }

    private synchronized long step() {
        return ++steps;
    }

    private synchronized void note(Stay stay) {
        stays.add(stay);
    }

    /** How many holds were good to their ends. */
    synchronized long good() {
        return stays.stream().filter(Stay::isGood).count();
    }

    /** Fails if two good holds met, or one that came later had a smaller token. */
    synchronized void judge() {
        List<Stay> good = stays.stream()
                .filter(Stay::isGood)
                .sorted(Comparator.comparingLong(Stay::came))
                .toList();
        for (int i = 1; i < good.size(); i++) {
            Stay before = good.get(i - 1);
            assertThat(good.get(i).came)
                    .as("a good hold ends before the next begins")
                    .isGreaterThan(before.went);
            assertThat(good.get(i).token).as("tokens of later holds").isGreaterThan(before.token);
        }
    }

    @Override
    public void close() {
        isEnding.set(true);
        workers.forEach(CompletableFuture::join);
    }
}
