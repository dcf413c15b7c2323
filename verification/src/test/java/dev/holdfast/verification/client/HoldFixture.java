package dev.holdfast.verification.client;

import dev.holdfast.DistributedLock;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import org.junit.jupiter.api.AutoClose;

/** A lock that is held. */
abstract class HoldFixture {

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final Holdfast holdfast = world.client("alice", link);
    final DistributedLock lock = holdfast.lock("ledger");
}
