package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DistributedLock;
import dev.holdfast.Holdfast;
import dev.holdfast.MultiLock;
import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.verification.world.Actor;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;

/** Two clients, and a lock on three names. */
abstract class MultiLockFixture {

    static final Duration MINUTE = Duration.ofMinutes(1);

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final Holdfast alice = world.client("alice", link);
    final Holdfast bob = world.client("bob");
    final MultiLock abc = alice.lockAll("b", "a", "c");
    final Actor caller = world.actor("caller");

    List<String> asked() {
        return link.sent(Acquire.class).stream()
                .map(acquire -> acquire.resource().value())
                .toList();
    }

    List<Optional<String>> holders(String... names) {
        return List.of(names).stream().map(world::holderOf).toList();
    }

    void holdsNothing() {
        assertThat(holders("a", "b", "c")).doesNotContain(Optional.of("alice"));
        assertThat(List.of("a", "b", "c")).allSatisfy(name -> {
            DistributedLock lock = alice.lock(name);
            assertThat(caller.<Integer>call(lock::holdCount)).isZero();
        });
    }
}
