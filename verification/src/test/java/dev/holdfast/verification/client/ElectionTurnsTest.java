package dev.holdfast.verification.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Holdfast;
import dev.holdfast.election.Campaign;
import dev.holdfast.election.Leadership;
import dev.holdfast.spi.ResourceInfo.Party;
import dev.holdfast.verification.world.Eventually;
import dev.holdfast.verification.world.World;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Campaigns of one client on one name")
class ElectionTurnsTest {

    private final World world = World.still();
    private final Holdfast atAlice = world.client("alice");
    private final Holdfast atBob = world.client("bob");
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void close() {
        goOn.countDown();
        world.close();
    }

    @Test
    @Tag("E10")
    @DisplayName("E10: a grant that comes too late for one campaign is not handed to the next")
    void lateGrantIsNotHandedOn() {
        Campaign theirs = atBob.election("scheduler").campaign(leadership -> {});
        world.time().settle();
        Campaign left = atAlice.election("scheduler").campaign(leadership -> {});
        List<Leadership> terms = new CopyOnWriteArrayList<>();

        blockCallbacks();
        theirs.closeAsync();
        Eventually.holds(
                "the other client has it", () -> world.holderOf("scheduler").equals(Optional.of("alice")));
        Party late = leader();
        left.closeAsync();
        Campaign next = atAlice.election("scheduler").campaign(terms::add);
        goOn.countDown();
        Eventually.holds("the next campaign leads", () -> terms.size() == 1);

        assertThat(leader().claim()).isNotEqualTo(late.claim());
        assertThat(leader().tokens().orElseThrow().first())
                .isEqualTo(terms.get(0).term());
        next.close();
    }

    private Party leader() {
        return world.recordOf("scheduler").orElseThrow().holders().get(0);
    }

    /** Keeps the only callback thread busy, so that a campaign is not notified of its grant. */
    private void blockCallbacks() {
        CountDownLatch begun = new CountDownLatch(1);
        world.time().callbacks().execute(() -> {
            begun.countDown();
            awaitGo();
        });
        Eventually.holds("the thread of callbacks is busy", () -> begun.getCount() == 0);
    }

    private void awaitGo() {
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
