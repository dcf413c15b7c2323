package dev.holdfast.engine.session;

import dev.holdfast.engine.execution.Trampoline;
import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.spi.SignalHandler;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Receives the store's signals. They are hints: a pushed grant is believed only if its claim waits and no signal ever
 * said that it was revoked; every other signal makes the engine poll.
 */
public final class SignalReceiver implements Consumer<Signal> {

    private final Partitions partitions;
    private final Reaction reaction = new Reaction();

    public SignalReceiver(Partitions partitions) {
        this.partitions = partitions;
    }

    @Override
    public void accept(Signal signal) {
        Trampoline.react(() -> signal.accept(reaction));
    }

    /** Handles each kind of signal. */
    private final class Reaction implements SignalHandler {

        @Override
        public void granted(Signal.Granted signal) {
            Claim claim = find(signal.claim());
            if (claim != null && isWaiting(claim)) {
                accept(claim, signal.grant());
            }
        }

        @Override
        public void changed(Signal.Changed signal) {
            Claim claim = find(signal.claim());
            if (claim != null && isWaiting(claim)) {
                partitionOf(claim).driver.poll(claim);
            }
        }

        @Override
        public void revoked(Signal.Revoked signal) {
            Claim claim = find(signal.claim());
            if (claim != null) {
                claim.step(deferred -> claim.revocationSignalled());
                partitionOf(claim).driver.poll(claim);
            }
        }

        @Override
        public void sessionEnded(Signal.SessionEnded signal) {
            partitions.used().forEach(partition -> ended(partition.keeper, signal.session()));
        }

        @Override
        public void resubscribed(Signal.Resubscribed signal) {
            used(signal.partition()).forEach(partition -> partition.poller.pollAll());
        }

        @Override
        public void failedOver(Signal.FailedOver signal) {
            used(signal.partition()).forEach(partition -> {
                partition.poller.pollAll();
                partition.auditNow();
            });
        }

        private Stream<Partition> used(OptionalInt number) {
            return partitions.used().stream()
                    .filter(partition -> number.isEmpty() || number.getAsInt() == partition.number);
        }
    }

    private static void ended(SessionKeeper keeper, SessionId id) {
        Session session = keeper.current();
        if (session != null && session.id.equals(id)) {
            keeper.endSignalled(session);
        }
    }

    private Partition partitionOf(Claim claim) {
        return partitions.of(claim.listener().resourceName());
    }

    private void accept(Claim claim, Reply.Granted grant) {
        Partition partition = partitionOf(claim);
        if (claim.fixedLease != null || claim.hasRevocationSignals() || partition.keeper.inDoubt(claim.session)) {
            partition.driver.poll(claim);
        } else {
            partition.driver.takeNotified(claim, grant);
        }
    }

    /**
     * Whether a claim waits. If it has no answer yet, the signal has overtaken the answer, or belongs before it: then
     * the claim is polled as soon as the answer has arrived.
     */
    private static boolean isWaiting(Claim claim) {
        if (claim.isSent()) {
            claim.step(deferred -> claim.noteSignal());
        }
        return claim.isQueued();
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
