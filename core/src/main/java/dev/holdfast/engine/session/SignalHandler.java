package dev.holdfast.engine.session;

import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Takes what the store pushes. Signals are hints: a grant is believed only for a claim that waits and of which nothing
 * contrary was heard; everything else makes the engine ask.
 */
public final class SignalHandler implements Consumer<Signal> {

    private final Partitions partitions;

    public SignalHandler(Partitions partitions) {
        this.partitions = partitions;
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
                claim.partition().driver.poll(claim);
            }
        } else if (signal instanceof Signal.Revoked revoked) {
            Claim claim = find(revoked.claim());
            if (claim != null) {
                contradict(claim);
                claim.partition().driver.poll(claim);
            } else {
                partitions.users().forEach(user -> user.revoked(revoked.claim()));
            }
        } else if (signal instanceof Signal.SessionEnded ended) {
            partitions.used().forEach(partition -> ended(partition.keeper, ended.session()));
        } else if (signal instanceof Signal.Resubscribed gap) {
            partitions.used().stream()
                    .filter(partition ->
                            gap.partition().isEmpty() || gap.partition().getAsInt() == partition.number)
                    .forEach(partition -> partition.poller.pollAll());
        }
    }

    private static void ended(SessionKeeper keeper, SessionId id) {
        Session session = keeper.current();
        if (session != null && session.id.equals(id)) {
            keeper.contradict(session);
        }
    }

    private void granted(Signal.Granted granted) {
        Claim claim = find(granted.claim());
        if (claim == null || !waits(claim)) {
            return;
        }
        if (claim.own != null
                || claim.contradiction != null
                || claim.partition().keeper.inDoubt(claim.session)) {
            claim.partition().driver.poll(claim);
        } else {
            // The steps seen matter for a lease of its own only.
            claim.partition()
                    .driver
                    .take(
                            claim,
                            granted.grant(),
                            claim.partition().context.clock().now(),
                            0);
        }
    }

    /**
     * Whether a claim waits. If nothing was answered yet, what is pushed has overtaken the answer, or goes before it:
     * then it is looked into as soon as the answer is there.
     */
    private static boolean waits(Claim claim) {
        if (claim.state == Claim.State.SENT) {
            claim.lock().lock();
            try {
                claim.isOvertaken = claim.state == Claim.State.SENT;
            } finally {
                claim.lock().unlock();
            }
        }
        return claim.state == Claim.State.QUEUED;
    }

    private static void contradict(Claim claim) {
        claim.lock().lock();
        try {
            claim.contradict();
        } finally {
            claim.lock().unlock();
        }
    }

    private @Nullable Claim find(ClaimRef ref) {
        for (SessionUser user : partitions.users()) {
            Claim claim = user.find(ref);
            if (claim != null) {
                return claim;
            }
        }
        return null;
    }
}
