package dev.holdfast.verification.client;

import dev.holdfast.DistributedLock;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;

/** A client whose store does not always answer. */
abstract class UnknownOutcomeFixture {

    static final Duration STORE_TIMEOUT = Duration.ofSeconds(10);

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final Holdfast holdfast = world.client("alice", link);
    final DistributedLock lock = holdfast.lock("ledger");
    final Actor bob = world.actor("bob");
}
