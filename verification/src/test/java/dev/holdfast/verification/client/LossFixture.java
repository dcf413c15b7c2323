package dev.holdfast.verification.client;

import dev.holdfast.DistributedLock;
import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.Loss;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;

/** A lock that its holder may lose. */
abstract class LossFixture {

    static final Duration TTL = Duration.ofSeconds(30);
    static final Duration DEADLINE = Duration.ofSeconds(27);

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final Holdfast holdfast = world.client("alice", link);
    final DistributedLock lock = holdfast.lock("ledger");
    final List<Loss.Cause> told = new CopyOnWriteArrayList<>();

    Hold acquired() throws InterruptedException {
        Hold hold = lock.acquire();
        hold.onLost(loss -> told.add(loss.cause()));
        return hold;
    }

    ClaimRef claimOfHolder() {
        return world.recordOf("ledger").orElseThrow().holders().get(0).claim();
    }
}
