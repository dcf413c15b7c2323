package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The holds that were lost and not closed")
class LostHoldsTest {

    /** If each looked at all others, that alone would take many times the time-out. */
    private static final int MANY = 300_000;

    private static final ResourceName NAME = new ResourceName("gpu");
    private static final ResourceSpec SPEC = new ResourceSpec(Kind.SEMAPHORE, MANY, Order.FAIR);

    private final LocalSynchronizer resource =
            new LocalSynchronizer(null, new Resource.Registry<>(new Resource.Guards()), NAME, SPEC);
    private final Session session = new Session(new SessionId("s"), 1, 0, 0, 0);
    private long claims;

    private Grant grant() {
        Claim.Terms terms = new Claim.Terms(Lease.SESSION, 1, Waiting.QUEUE, null, false);
        Claim claim = new Claim(resource, ++claims, session, terms, 0);
        return new Grant(claim, resource, null);
    }

    private LocalHold hold(Grant grant, Mode mode, Thread owner) {
        Request request = new Request(null, mode, NAME, owner, null, AcquireTerms.FOREVER, Audience.USER, null);
        return new LocalHold(resource, grant, request, claims);
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    @DisplayName("are added and removed each for itself, however many there are")
    void areMany() {
        List<LocalHold> holds = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            holds.add(hold(grant(), Mode.unowned(SPEC, 1), null));
        }
        LostHolds lost = new LostHolds();
        for (LocalHold hold : holds) {
            lost.add(hold);
        }
        Set<ClaimRef> refs = new HashSet<>();
        lost.eachRef(refs::add);
        assertThat(refs).hasSize(MANY);
        for (LocalHold hold : holds) {
            assertThat(lost.hasUnder(hold.grant())).isTrue();
            lost.remove(hold);
            assertThat(lost.hasUnder(hold.grant())).isFalse();
        }
        assertThat(lost.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("keep their grant until the last under it is closed")
    void shareAGrant() {
        Grant grant = grant();
        LocalHold first = hold(grant, Mode.unowned(SPEC, 1), null);
        LocalHold second = hold(grant, Mode.unowned(SPEC, 1), null);
        LostHolds lost = new LostHolds();
        lost.add(first);
        lost.add(second);

        lost.remove(first);
        lost.remove(first);
        assertThat(lost.hasUnder(grant)).isTrue();
        assertThat(lost.isEmpty()).isFalse();

        lost.remove(second);
        assertThat(lost.hasUnder(grant)).isFalse();
    }

    @Test
    @DisplayName("are found by their threads, also when these have died")
    void byThread() throws InterruptedException {
        Thread dead = new Thread(() -> {});
        dead.start();
        dead.join();
        LocalHold mine = hold(grant(), Mode.owned(SPEC, 1), Thread.currentThread());
        LocalHold orphan = hold(grant(), Mode.owned(SPEC, 1), dead);
        LostHolds lost = new LostHolds();
        lost.add(mine);
        lost.add(orphan);
        lost.add(hold(grant(), Mode.unowned(SPEC, 1), null));

        assertThat(lost.of(Thread.currentThread())).isSameAs(mine);
        assertThat(lost.of(dead)).isSameAs(orphan);
        assertThat(lost.of(null)).isNull();
        assertThat(lost.ofTheDead()).containsExactly(orphan);
    }

    @Test
    @DisplayName("are none where none were lost, and nothing is found there")
    void none() {
        LocalHold hold = hold(grant(), Mode.unowned(SPEC, 1), null);
        LostHolds none = new LostHolds();
        none.remove(hold);
        none.removeEnded(0);
        assertThat(none.isEmpty()).isTrue();
        assertThat(none.hasUnder(hold.grant())).isFalse();
        assertThat(none.ofTheDead()).isEmpty();
    }
}
