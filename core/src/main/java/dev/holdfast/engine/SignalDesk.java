package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes what the store pushes. Signals are hints: a grant is believed only for a claim that waits and of which nothing
 * contrary was heard; everything else makes the engine ask.
 */
final class SignalDesk implements Consumer<Signal> {

    private final Engine engine;

    SignalDesk(Engine engine) {
        this.engine = engine;
    }

    @Override
    public void accept(Signal signal) {
        Trampoline.react(() -> take(signal));
    }

    private void take(Signal signal) {
        if (signal instanceof Signal.Granted granted) {
            granted(granted);
        } else if (signal instanceof Signal.Changed changed) {
            Claim claim = find(changed.claim());
            if (claim != null && waits(claim)) {
                engine.driver.poll(claim);
            }
        } else if (signal instanceof Signal.Revoked revoked) {
            Claim claim = find(revoked.claim());
            if (claim != null) {
                contradict(claim);
                engine.driver.poll(claim);
            } else {
                engine.turns.revoked(revoked.claim());
            }
        } else if (signal instanceof Signal.SessionEnded ended) {
            engine.parts.used().forEach(part -> ended(part.keeper, ended.session()));
        } else if (signal instanceof Signal.Resubscribed gap) {
            engine.parts.used().stream()
                    .filter(part -> gap.partition().isEmpty() || gap.partition().getAsInt() == part.number)
                    .forEach(part -> part.poller.pollAll());
        }
    }

    private static void ended(Keeper keeper, SessionId id) {
        Session session = keeper.current();
        if (session != null && session.id.equals(id)) {
            session.contradiction.hear();
            keeper.ask(session);
        }
    }

    private void granted(Signal.Granted granted) {
        Claim claim = find(granted.claim());
        if (claim == null || !waits(claim)) {
            return;
        }
        if (claim.own != null || claim.contradiction != null || claim.session.part.keeper.inDoubt(claim.session)) {
            engine.driver.poll(claim);
        } else {
            // The steps seen matter for a lease of its own only.
            engine.driver.take(claim, granted.grant(), engine.clock.now(), 0);
        }
    }

    /**
     * Whether a claim waits. If nothing was answered yet, what is pushed has overtaken the answer, or goes before it:
     * then it is looked into as soon as the answer is there.
     */
    private static boolean waits(Claim claim) {
        if (claim.state == Claim.State.SENT) {
            claim.gate.lock.lock();
            try {
                claim.isOvertaken = claim.state == Claim.State.SENT;
            } finally {
                claim.gate.lock.unlock();
            }
        }
        return claim.state == Claim.State.QUEUED;
    }

    private static void contradict(Claim claim) {
        claim.gate.lock.lock();
        try {
            claim.contradict();
        } finally {
            claim.gate.lock.unlock();
        }
    }

    private @Nullable Claim find(ClaimRef ref) {
        Gate gate = engine.gate(ref.resource());
        return gate == null ? null : gate.claimOf(ref);
    }
}
