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
 * Takes what the store pushes. Signals are hints: a grant is believed only for a claim that waits and of which nothing
 * contrary was heard; everything else makes the engine ask.
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

    /** What becomes of each signal. */
    private final class Reaction implements SignalHandler {

        @Override
        public void granted(Signal.Granted signal) {
            Claim claim = find(signal.claim());
            if (claim != null && waits(claim)) {
                believe(claim, signal.grant());
            }
        }

        @Override
        public void changed(Signal.Changed signal) {
            Claim claim = find(signal.claim());
            if (claim != null && waits(claim)) {
                claim.partition().driver.poll(claim);
            }
        }

        @Override
        public void revoked(Signal.Revoked signal) {
            Claim claim = find(signal.claim());
            if (claim != null) {
                contradict(claim);
                claim.partition().driver.poll(claim);
            } else {
                partitions.users().forEach(user -> user.revoked(signal.claim()));
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
            keeper.contradict(session);
        }
    }

    private static void believe(Claim claim, Reply.Granted grant) {
        Partition partition = claim.partition();
        if (claim.own != null || claim.contradiction != null || partition.keeper.inDoubt(claim.session)) {
            partition.driver.poll(claim);
        } else {
            // The steps seen matter for a lease of its own only.
            partition.driver.take(claim, grant, partition.context.clock().now(), 0);
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
