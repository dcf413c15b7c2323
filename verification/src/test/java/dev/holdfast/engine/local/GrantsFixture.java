package dev.holdfast.engine.local;

import dev.holdfast.OnDeadlock;
import dev.holdfast.engine.SimulatedClient;
import dev.holdfast.engine.client.SafetyRules;
import dev.holdfast.engine.execution.Audience;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.PassCoverage;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command.Waiting;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.FaultyLink;
import dev.holdfast.verification.world.World;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;

/** The grants of one resource on virtual time, without the claims and the queue of that resource. */
abstract class GrantsFixture {

    static final ResourceName NAME = new ResourceName("ledger");
    static final ResourceSpec READ_WRITE = new ResourceSpec(Kind.READ_WRITE, Integer.MAX_VALUE, Order.FAIR);
    static final ResourceSpec SEATS = new ResourceSpec(Kind.SEMAPHORE, 10, Order.FAIR);
    static final Duration BUDGET = Duration.ofMillis(10);
    static final Duration SLICE = Duration.ofNanos(200_000);
    static final Duration SESSION_LEFT = Duration.ofSeconds(20);
    static final Duration SHARED_SLICE = Duration.ofMillis(1);

    @AutoClose
    final World world = World.still();

    final FaultyLink link = world.link();
    final RequestQueue queue = new RequestQueue();
    final Thread alice = new Thread("alice");
    final Thread bob = new Thread("bob");
    LocalResources resources = resources(BUDGET);
    Grants grants = of(ResourceSpec.MUTEX);
    private long claimNumber = 1_000;

    /** The resources of a client with this budget for hand-overs. */
    private LocalResources resources(Duration budget) {
        return SimulatedClient.start(
                        link,
                        world.time(),
                        Duration.ofSeconds(30),
                        budget,
                        "here",
                        OnDeadlock.REPORT,
                        request -> null,
                        new SafetyRules())
                .toCompletableFuture()
                .join()
                .resources();
    }

    /** The grants of a resource of one kind, in a client with this budget for hand-overs. */
    Grants of(ResourceSpec spec, Duration budget) {
        resources = resources(budget);
        return of(spec);
    }

    private Grants of(ResourceSpec spec) {
        return new Grants(new LocalSynchronizer(
                resources.partition(NAME), new Resource.Registry<>(new Resource.Guards()), NAME, spec));
    }

    /** A session of the client that no store knows. */
    Session session(String id, Duration left) {
        return new Session(new SessionId(id), Duration.ofSeconds(30).toNanos(), now(), now() + left.toNanos(), 0);
    }

    Grant grant(Lease lease, int tokens, @Nullable Request only, @Nullable PassCoverage coverage) {
        return grant(session("s", SESSION_LEFT), lease, tokens, only, coverage);
    }

    Grant grant(Session session, Lease lease, int tokens, @Nullable Request only, @Nullable PassCoverage coverage) {
        Claim.Terms terms = new Claim.Terms(lease, grants.resource().spec.capacity(), Waiting.QUEUE, coverage, false);
        LocalSynchronizer resource = (LocalSynchronizer) grants.resource();
        Claim claim = new Claim(resource, ++claimNumber, session, terms, now());
        claim.hold();
        Grant grant = new Grant(claim, resource, only);
        claim.attach(grant);
        if (tokens > 0) {
            grant.adopt(new TokenBlock(1, tokens));
        }
        grants.add(grant);
        return grant;
    }

    Grant grant(int tokens, @Nullable Request only, @Nullable PassCoverage coverage) {
        return grant(Lease.SESSION, tokens, only, coverage);
    }

    Grant grant(int tokens) {
        return grant(tokens, null, null);
    }

    Request request(Mode mode, @Nullable Thread thread, AcquireTerms terms) {
        return new Request(grants.resource().context(), mode, NAME, thread, null, terms, Audience.USER, null);
    }

    Request request(@Nullable Thread thread) {
        return request(
                Mode.owned(grants.resource().spec, grants.resource().spec.capacity()), thread, AcquireTerms.FOREVER);
    }

    Request reader(Thread thread) {
        return request(Mode.owned(READ_WRITE, 1), thread, AcquireTerms.FOREVER);
    }

    LocalHold enter(Grant grant, Request request) {
        LocalHold hold = new LocalHold((LocalSynchronizer) grants.resource(), grant, request, grant.tokenFor(request));
        grants.enter(grant, hold, request);
        return hold;
    }

    void serve(Grant grant, Request request) {
        leave(grant, enter(grant, request));
    }

    void leave(Grant grant, LocalHold hold) {
        DeferredActions deferred = new DeferredActions();
        grants.leave(grant, hold, deferred);
        deferred.send();
    }

    long now() {
        return grants.resource().now();
    }
}
