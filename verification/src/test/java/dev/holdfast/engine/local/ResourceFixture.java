package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.ReleaseOutcome;
import dev.holdfast.spi.CallerMode;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One resource of a client on virtual time, with all that serves its requests. The threads are only identities: a test
 * enters a request for each, and sees whether it has ended.
 */
abstract class ResourceFixture extends GrantsFixture {

    static final ResourceSpec BARGING_MUTEX = Mode.BARGING_MUTEX.spec();
    static final ResourceSpec BARGING_SEATS = new ResourceSpec(SEATS.kind(), SEATS.capacity(), Order.BARGING);
    static final Reply.Queued QUEUED = new Reply.Queued(Duration.ofSeconds(5));
    static final Duration KEPT = Duration.ofMillis(1);

    final Thread carol = new Thread("carol");

    /** Starts again with another kind of resource. */
    void use(ResourceSpec spec, Duration budget) {
        grants = of(spec, budget);
        link.forget();
    }

    void use(ResourceSpec spec) {
        use(spec, BUDGET);
    }

    LocalSynchronizer enter(Request request) {
        return resources.enter(NAME, request.mode.spec(), request);
    }

    Request entered(Request request) {
        enter(request);
        return request;
    }

    /** The resource; it must be in use. */
    LocalSynchronizer resource() {
        LocalSynchronizer resource = resources.resource(NAME);
        if (resource == null) {
            throw new AssertionError("The resource is not in use");
        }
        return resource;
    }

    Request trying(Thread thread) {
        return request(Mode.owned(grants.resource().spec, grants.resource().spec.capacity()), thread, AcquireTerms.TRY);
    }

    Request seats(int weight, AcquireTerms terms) {
        return request(Mode.unowned(grants.resource().spec, weight), null, terms);
    }

    Request seats(int weight) {
        return seats(weight, AcquireTerms.FOREVER);
    }

    static boolean isGranted(Request request) {
        return request.isDone() && request.hold() != null;
    }

    static boolean isRefused(Request request) {
        return request.isDone() && request.hold() == null && request.failure() == null;
    }

    LocalHold holdOf(Request request) {
        LocalHold hold = request.hold();
        if (hold == null) {
            throw new AssertionError("The request was not granted");
        }
        return hold;
    }

    CompletableFuture<ReleaseOutcome> release(Request request) {
        LocalHold hold = holdOf(request);
        return hold.issuer().release(hold, CallerMode.ASYNC);
    }

    void lose(Request request) {
        resource().expired(holdOf(request).claim(), Loss.Cause.EXPIRED);
    }

    FaultyLink.HeldUp holdUpAcquire() {
        return link.holdUpNext(Command.Acquire.class);
    }

    List<Command.Acquire> acquires() {
        return link.sent(Command.Acquire.class);
    }

    List<Command.Release> releases() {
        return link.sent(Command.Release.class);
    }
}
