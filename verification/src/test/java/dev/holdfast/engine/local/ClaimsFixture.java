package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.ClaimListener;
import dev.holdfast.engine.session.Session;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Kind;
import dev.holdfast.spi.Lease;
import dev.holdfast.spi.Order;
import dev.holdfast.spi.Refusal;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.ResourceName;
import dev.holdfast.spi.ResourceSpec;
import dev.holdfast.spi.TokenBlock;
import dev.holdfast.verification.world.FaultyLink;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The claims of one resource, without what serves its requests. The test gives the store's answers. */
abstract class ClaimsFixture extends GrantsFixture {

    static final ResourceSpec BARGING_SEATS = new ResourceSpec(Kind.SEMAPHORE, 10, Order.BARGING);
    static final ResourceSpec LATCH = new ResourceSpec(Kind.LATCH, 1, Order.FAIR);
    static final Lease OWN_LEASE = Lease.bounded(Duration.ofMinutes(1));

    static final Reply.Queued QUEUED = new Reply.Queued(Duration.ofSeconds(5));
    static final Reply.Refused TAKEN = new Reply.Refused(Refusal.TAKEN, "others have it");
    static final Reply.Granted GRANTED = new Reply.Granted(new TokenBlock(101, 110), Optional.empty(), false);
    static final Reply.Granted GRANTED_AWAITED = new Reply.Granted(new TokenBlock(101, 110), Optional.empty(), true);

    ResourceClaims claims = new ResourceClaims(new Listener(), grants);
    Session session = session("s", SESSION_LEFT);

    /** Gives the answers of the store to the claims, and serves no request. */
    private final class Listener implements ClaimListener {
        @Override
        public ReentrantLock guard() {
            return grants.resource().guard();
        }

        @Override
        public ResourceName resourceName() {
            return NAME;
        }

        @Override
        public ResourceSpec spec() {
            return grants.resource().spec;
        }

        @Override
        public void granted(Claim claim, Reply.Granted reply, long sentAt, DeferredActions deferred) {
            var unused = claims.granted(claim, reply, sentAt, queue, deferred);
        }

        @Override
        public void queued(Claim claim, DeferredActions deferred) {
            claims.queued(claim, deferred);
        }

        @Override
        public void notGranted(
                Claim claim,
                Claim.Denial denial,
                @Nullable String detail,
                @Nullable Supplier<RuntimeException> why,
                DeferredActions deferred) {
            if (denial != Claim.Denial.UNREACHABLE) {
                var unused = claims.refused(claim, deferred);
            }
        }

        @Override
        public void vanished(Claim claim, DeferredActions deferred) {
            claims.vanished(claim, deferred);
        }

        @Override
        public void advanced(Claim claim, Reply.@Nullable Advanced reply, DeferredActions deferred) {
            claims.advanced(claim, reply);
        }

        @Override
        public void withdraw(Claim dead, DeferredActions deferred) {
            claims.withdraw(dead, deferred);
        }

        @Override
        public void pollFailed(Claim claim) {
            claims.pollFailed(claim);
        }

        @Override
        public void proceed(DeferredActions deferred) {}

        @Override
        public void expired(Claim claim, Loss.Cause cause) {
            grants.resource().step(deferred -> claims.expire(claim, cause, deferred));
        }
    }

    /** A claim, and the command that carries it to the store, which the test answers. */
    record Sent(FaultyLink.HeldUp command, Claim claim) {
        void answer(Reply reply) {
            command.answer(reply);
        }
    }

    /** Starts again with another kind of resource. */
    void use(ResourceSpec spec, Duration budget) {
        grants = of(spec, budget);
        claims = new ResourceClaims(new Listener(), grants);
        session = session("s", SESSION_LEFT);
        link.mend();
        link.forget();
    }

    void use(ResourceSpec spec) {
        use(spec, BUDGET);
    }

    /** A session that the store has ended, as the client knows. */
    Session endedSession() {
        Session ended = grants.resource().partition.session();
        if (ended == null) {
            throw new AssertionError("The client has no session");
        }
        world.ask(new Command.CloseSession(ended.id));
        world.advanceUntil("the client knows the end of its session", () -> !ended.isAlive());
        return ended;
    }

    Request seats(int weight, AcquireTerms terms) {
        return request(Mode.unowned(grants.resource().spec, weight), null, terms);
    }

    Request seats(int weight) {
        return seats(weight, AcquireTerms.FOREVER);
    }

    Sent ask(Session under, Request first) {
        FaultyLink.HeldUp command = link.holdUpNext(Command.Acquire.class);
        grants.resource().step(deferred -> claims.ask(under, first, queue, deferred));
        return sent(command);
    }

    Sent ask(Request first) {
        return ask(session, first);
    }

    Sent yieldGrant(Grant grant, Request first) {
        FaultyLink.HeldUp command = link.holdUpNext(Command.Yield.class);
        grants.resource().step(deferred -> claims.yieldGrant(grant, first, queue, deferred));
        return sent(command);
    }

    private Sent sent(FaultyLink.HeldUp command) {
        Command.Claiming sent = (Command.Claiming) command.awaitCommand();
        Claim claim = claims.find(sent.request().claim());
        if (claim == null) {
            throw new AssertionError("The claims do not know " + sent);
        }
        return new Sent(command, claim);
    }

    boolean dropUnwanted() {
        return grants.resource().decide(deferred -> claims.dropUnwanted(queue, deferred));
    }

    List<Command.Withdraw> withdrawals() {
        return link.sent(Command.Withdraw.class);
    }

    List<Command.Release> releases() {
        return link.sent(Command.Release.class);
    }
}
