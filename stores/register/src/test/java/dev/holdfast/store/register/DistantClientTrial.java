package dev.holdfast.store.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.LockOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Clients that pass a lock around in strict order, one of them far from the server. It is not judged by the clock, but
 * by how often the others are granted the lock while it waits, and how often while it uses a lock of its own, which
 * takes two round trips.
 */
public final class DistantClientTrial {

    private static final String NAME = "passed around";
    private static final int WARM_UP = 5;
    private static final int TURNS = 25;

    /** What the others may have beyond that: a rotation until it is in the queue, and one until it is granted. */
    private static final int ROTATIONS = 2;

    private final AtomicInteger grants = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    private DistantClientTrial() {}

    /**
     * Has all clients acquire and release, and demands that the distant one takes its turns.
     *
     * @param delay makes the way of the distant one long, once all are connected
     */
    public static void run(List<Holdfast> near, Holdfast distant, Runnable delay) throws Exception {
        new DistantClientTrial().rotate(near, distant, delay);
    }

    private void rotate(List<Holdfast> near, Holdfast distant, Runnable delay) throws Exception {
        pairOfItsOwn(distant);
        delay.run();
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (Holdfast client : near) {
            Thread thread = new Thread(() -> acquireAndRelease(client, isOver), "near");
            threads.add(thread);
            thread.start();
        }
        int passed = 0;
        int duringTwoTrips = 0;
        try {
            for (int i = 0; i < TURNS; i++) {
                int before = grants.get();
                pairOfItsOwn(distant);
                duringTwoTrips += grants.get() - before;
            }
            for (int turn = -WARM_UP; turn < TURNS; turn++) {
                int before = grants.get();
                Hold hold = distant.lock(NAME, LockOptions.fair()).acquire();
                passed += turn < 0 ? 0 : grants.get() - before;
                hold.close();
            }
        } finally {
            isOver.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertThat(failure.get()).isNull();
        System.out.printf(
                "In %d turns of the distant client others had %d while it waited, and %d during two round trips each%n",
                TURNS, passed, duringTwoTrips);
        assertThat(passed)
                .as("grants of others while the distant client waited, which had %d in two round trips", duringTwoTrips)
                .isLessThanOrEqualTo(2 * duringTwoTrips + ROTATIONS * TURNS * near.size());
    }

    private static void pairOfItsOwn(Holdfast client) throws InterruptedException {
        client.lock("its own").acquire().close();
    }

    private void acquireAndRelease(Holdfast client, AtomicBoolean isOver) {
        try {
            while (!isOver.get()) {
                try (Hold hold = client.lock(NAME, LockOptions.fair()).acquire()) {
                    assertThat(hold.isHeld()).isTrue();
                    grants.incrementAndGet();
                }
            }
        } catch (Throwable t) {
            failure.compareAndSet(null, t);
        }
    }
}
