package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Hold;
import dev.holdfast.Holdfast;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Time stands still here, so every grant was notified by the store. */
@DisplayName("Clients that share one store object")
class SharedStoreTest {

    @AutoClose
    private final World world = World.still();

    private final FaultyLink link = world.link();
    private final Holdfast alice = world.client("alice", link);
    private final Holdfast carol = world.client("carol", link);
    private final Holdfast bob = world.client("bob");

    @Test
    @DisplayName("each learn of their own grants")
    void eachIsTold() {
        expectServiceWhenBobLeaves(alice, "a");
        expectServiceWhenBobLeaves(carol, "b");
        expectServiceWhenBobLeaves(alice, "c");
    }

    @Test
    @DisplayName("exclude each other, and hand over to each other")
    void excludeEachOther() {
        Hold first = alice.lock("ledger").acquireAsync().toCompletableFuture().join();
        CompletableFuture<Hold> second = carol.lock("ledger").acquireAsync().toCompletableFuture();
        assertThat(second).isNotDone();
        first.close();
        Eventually.holds("the other has it", second::isDone);
        second.join().close();
    }

    @Test
    @DisplayName("are not touched by the close of one of them, nor is the store")
    void closeOfOne() {
        Hold hers = alice.lock("hers").acquireAsync().toCompletableFuture().join();
        carol.close();
        assertThat(link.isClosed()).isFalse();
        assertThat(hers.isHeld()).isTrue();
        hers.close();
        expectServiceWhenBobLeaves(alice, "a");

        Holdfast dave = world.client("dave", link);
        expectServiceWhenBobLeaves(dave, "b");
        alice.close();
        expectServiceWhenBobLeaves(dave, "c");
    }

    private void expectServiceWhenBobLeaves(Holdfast client, String name) {
        Hold his = bob.lock(name).acquireAsync().toCompletableFuture().join();
        CompletableFuture<Hold> waiting = client.lock(name).acquireAsync().toCompletableFuture();
        assertThat(waiting).isNotDone();
        his.close();
        Eventually.holds("it is told of its grant", waiting::isDone);
        waiting.join().close();
    }
}
