package dev.holdfast.testkit.sim;

import dev.holdfast.spi.ClaimRef;
import dev.holdfast.spi.Command;
import dev.holdfast.spi.Reply;
import dev.holdfast.spi.SessionId;
import dev.holdfast.spi.Signal;
import dev.holdfast.store.memory.ReferenceMachine;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Checks strict order where each message takes the same time: while a claim of another process waits at the store, a
 * process may start holds for the requests that waited in it when its own claim was sent, and others for as long as
 * the answer counts that no one waits.
 */
final class StrictOrderCheck {

    private final World world;

    /** For how long after a claim was queued holds of other processes may start. */
    private final long most;

    /** When the claims that wait were queued. */
    private final Map<ClaimRef, Long> queuedAt = new HashMap<>();

    /** The newest request in its process when a claim was sent. */
    private final Map<ClaimRef, Long> newestRequests = new HashMap<>();

    private @Nullable ClaimRef granted;
    private boolean hasServed;

    StrictOrderCheck(World world, long most) {
        this.world = world;
        this.most = most;
    }

    /** A process sends a command. */
    void sent(Command command, long newestRequest) {
        if (command instanceof Command.Claiming claiming) {
            newestRequests.put(claiming.request().claim(), newestRequest);
        }
    }

    /** The store has executed a command. */
    void applied(Command command, ReferenceMachine.Outcome outcome) {
        if (command instanceof Command.Claiming claiming) {
            ClaimRef claim = claiming.request().claim();
            if (outcome.reply() instanceof Reply.Granted) {
                grant(claim);
            } else if (outcome.reply() instanceof Reply.Queued) {
                queuedAt.put(claim, world.now());
            }
        }
        for (Signal signal : outcome.signals()) {
            if (signal instanceof Signal.Granted push) {
                grant(push.claim());
            }
        }
    }

    private void grant(ClaimRef claim) {
        queuedAt.remove(claim);
        newestRequests.remove(granted);
        granted = claim;
        hasServed = false;
    }

    /**
     * A hold starts.
     *
     * @param request the number of its request in its process
     * @param late how much later its thread may run
     */
    void begins(SimProcess process, long request, long late) {
        ClaimRef grant = Objects.requireNonNull(granted);
        boolean isFirst = !hasServed;
        hasServed = true;
        if (isFirst || request <= newestRequests.getOrDefault(grant, 0L)) {
            return;
        }
        SessionId own = grant.session();
        queuedAt.forEach((claim, since) -> {
            long passed = world.now() - since;
            if (!claim.session().equals(own) && passed > most + late) {
                world.fail(
                        Rule.PASSED_OVER,
                        process + " starts a hold " + passed / 1_000 + " us after another process had queued, not "
                                + most / 1_000 + " us at most");
            }
        });
    }
}
