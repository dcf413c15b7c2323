package dev.holdfast.verification.client;

import dev.holdfast.DistributedCountDownLatch;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** A latch of two clients. */
abstract class LatchFixture {

    static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

    final World world = World.still();
    final FaultyLink link = world.link();
    final Holdfast alice = world.client("alice", link);
    final Holdfast bob = world.client("bob");
    final DistributedCountDownLatch atAlice = alice.latch("imported");
    final DistributedCountDownLatch atBob = bob.latch("imported");
    final Actor actor = world.actor("actor");

    @AfterEach
    void close() {
        link.mend();
        for (long left = atBob.count(); left > 0; left = atBob.count()) {
            atBob.countDown();
        }
        world.close();
    }

    boolean waits(DistributedCountDownLatch latch) throws InterruptedException {
        return !latch.await(Duration.ZERO);
    }
}
