package dev.holdfast.verification.client;

import dev.holdfast.DistributedSemaphore;
import dev.holdfast.Holdfast;
import dev.holdfast.Permits;
import dev.holdfast.spi.ResourceInfo;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.HolderThread;
import dev.holdfast.verification.world.World;
import java.util.List;
import org.junit.jupiter.api.AutoClose;

/** Permits of two clients. */
abstract class SemaphoreFixture {

    static final int N = 10;

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final Holdfast alice = world.client("alice", link);
    final DistributedSemaphore here = alice.semaphore("gpu", N);
    final Holdfast bob = world.client("bob");
    final DistributedSemaphore there = bob.semaphore("gpu", N);

    HolderThread<Permits> waiting(String name, DistributedSemaphore semaphore, int permits) {
        return HolderThread.waiting(world, name, () -> semaphore.acquire(permits));
    }

    long heldAtTheStore() {
        return world.recordOf("gpu").map(ResourceInfo::holders).orElse(List.of()).stream()
                .mapToLong(ResourceInfo.Party::weight)
                .sum();
    }
}
