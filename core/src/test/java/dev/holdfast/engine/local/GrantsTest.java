package dev.holdfast.engine.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The grants of a resource")
class GrantsTest {

    private static final ResourceName NAME = new ResourceName("seats");
    private static final Session SESSION = new Session(new SessionId("s"), 1, 0, 0, 0);

    private long claims;

    private Grant grant(LocalSynchronizer resource, Grants grants) {
        Claim.Terms terms = new Claim.Terms(Lease.SESSION, 1, Waiting.QUEUE, null, false);
        Claim claim = new Claim(resource, ++claims, SESSION, terms, 0);
        Grant grant = new Grant(claim, resource, null);
        grants.add(grant);
        return grant;
    }

    private static Request request(ResourceSpec spec, int weight) {
        Mode mode = Mode.unowned(spec, weight);
        return new Request(null, mode, NAME, null, null, AcquireTerms.FOREVER, Audience.USER, null);
    }

    private static List<Grant> candidates(Grants grants) {
        List<Grant> found = new ArrayList<>();
        for (Grant grant = grants.firstCandidate(); grant != null; grant = grants.candidateAfter(grant)) {
            found.add(grant);
        }
        return found;
    }

    @Test
    @DisplayName("that are in use are not visited for a new permit, however many there are")
    void visitsIdleOnes() {
        ResourceSpec spec = new ResourceSpec(Kind.SEMAPHORE, 30_000, Order.FAIR);
        LocalSynchronizer resource =
                new LocalSynchronizer(null, new Resource.Registry<>(new Resource.Guards()), NAME, spec);
        Grants grants = new Grants(resource);
        List<Grant> idle = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            Grant grant = grant(resource, grants);
            if (i % 5_000 == 0) {
                idle.add(0, grant);
            } else {
                Request request = request(spec, 1);
                grants.enter(grant, new LocalHold(resource, grant, request, claims), request);
            }
        }

        assertThat(candidates(grants)).containsExactlyElementsOf(idle);
    }

    @Test
    @DisplayName("that can be shared are visited in use, too")
    void visitsSharedOnes() {
        ResourceSpec spec = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
        LocalSynchronizer resource =
                new LocalSynchronizer(null, new Resource.Registry<>(new Resource.Guards()), NAME, spec);
        Grants grants = new Grants(resource);
        Grant grant = grant(resource, grants);
        grant.add(new LocalHold(resource, grant, request(spec, 0), claims));

        assertThat(candidates(grants)).containsExactly(grant);
    }
}
