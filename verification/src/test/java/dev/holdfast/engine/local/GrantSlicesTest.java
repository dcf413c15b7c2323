package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.spi.ResourceSpec;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the grants of one resource decide, without the resource: whose slice it is, and when it is over. */
@DisplayName("The grants of a resource hand over")
class GrantSlicesTest extends GrantsFixture {

    @Test
    @DisplayName("with the next release once all are in use and no slice is left")
    void nextRelease() {
        assertThat(grants.isNextReleaseHandedOver(now())).isFalse();
        Grant grant = grant(100);
        serve(grant, request(alice));
        assertThat(grants.isNextReleaseHandedOver(now())).isFalse();
        enter(grant, request(bob));
        long end = now() + SLICE.toNanos();

        assertThat(grants.isNextReleaseHandedOver(end - 1)).isFalse();
        assertThat(grants.isNextReleaseHandedOver(end)).isTrue();
    }

    @Test
    @DisplayName("with the last of several slices, and know whose a slice is")
    void severalSlices() {
        grants = of(SEATS, BUDGET);
        Grant one = grant(100);
        Grant other = grant(100);
        serve(one, request(alice));
        serve(one, request(alice));
        serve(other, request(bob));
        world.advance(SLICE.dividedBy(2));
        enter(other, request(bob));
        assertThat(other.isSliceOfOthers(alice)).isTrue();
        assertThat(other.isSliceOfOthers(bob)).isFalse();
        long end = now() + SLICE.toNanos();
        enter(one, request(alice));
        assertThat(grants.isNextReleaseHandedOver(end - 1)).isFalse();
        assertThat(grants.isNextReleaseHandedOver(end)).isTrue();
        world.advance(SLICE);
        assertThat(other.isSliceOfOthers(alice)).isFalse();
    }

    @Test
    @DisplayName("after a slice that is no longer than the budget")
    void shortBudget() {
        grants = of(ResourceSpec.MUTEX, SLICE.dividedBy(2));
        Grant grant = grant(100);
        serve(grant, request(alice));
        enter(grant, request(bob));

        assertThat(grants.isNextReleaseHandedOver(now() + SLICE.toNanos() / 2 - 1))
                .isFalse();
        assertThat(grants.isNextReleaseHandedOver(now() + SLICE.toNanos() / 2)).isTrue();
    }

    @Test
    @DisplayName("an idle grant to the head of the queue after its slice, or unused between two checks")
    void idle() {
        assertThat(grants.checkIdle(now())).isFalse();
        Grant grant = grant(100);
        serve(grant, request(alice));
        serve(grant, request(bob));
        grant.beginWatch();
        assertThat(grants.checkIdle(now())).isFalse();
        serve(grant, request(bob));
        assertThat(grants.checkIdle(now())).isFalse();
        assertThat(grants.checkIdle(now())).isTrue();
        grant.beginWatch();
        assertThat(grants.checkIdle(now())).isFalse();

        serve(grant, request(alice));
        assertThat(grants.checkIdle(now())).isFalse();
        serve(grant, request(alice));
        assertThat(grants.checkIdle(now() + SLICE.toNanos())).isTrue();
        enter(grant, request(alice));
        assertThat(grants.checkIdle(now() + SLICE.toNanos())).isFalse();
    }

    @Test
    @DisplayName("to readers for a millisecond from the first of them, or from the moment at which a writer waits")
    void readers() {
        grants = of(READ_WRITE, BUDGET);
        Grant grant = grant(100);
        grants.beginSharedSlice();
        assertThat(grant.hasSlice()).isFalse();
        LocalHold first = enter(grant, reader(alice));
        long begin = now();
        world.advance(Duration.ofNanos(500_000));
        enter(grant, reader(bob));
        assertThat(grants.isNextReleaseHandedOver(begin + SHARED_SLICE.toNanos() - 1))
                .isFalse();
        assertThat(grants.isNextReleaseHandedOver(begin + SHARED_SLICE.toNanos()))
                .isTrue();
        assertThat(grants.sharedHoldOf(alice)).isSameAs(first);
        assertThat(grants.exclusiveHold()).isNull();

        grants.beginSharedSlice();
        assertThat(grants.isNextReleaseHandedOver(now() + SHARED_SLICE.toNanos() - 1))
                .isFalse();
        assertThat(grants.isNextReleaseHandedOver(now() + SHARED_SLICE.toNanos()))
                .isTrue();
    }

    @Test
    @DisplayName("to readers after a writer has become one")
    void downgraded() {
        grants = of(READ_WRITE, BUDGET);
        Grant grant = grant(100);
        LocalHold writer = enter(grant, request(alice));
        assertThat(grants.exclusiveHold()).isSameAs(writer);
        assertThat(grants.servingAtOnce(reader(bob), true)).isNull();

        grants.share(grant, writer);

        assertThat(grants.exclusiveHold()).isNull();
        assertThat(grants.sharedHoldOf(alice)).isSameAs(writer);
        assertThat(grants.servingAtOnce(reader(bob), false)).isSameAs(grant);
        world.advance(SHARED_SLICE);
        assertThat(grants.servingAtOnce(reader(bob), false)).isNull();
        assertThat(grants.servingAtOnce(reader(bob), true)).isSameAs(grant);
    }
}
