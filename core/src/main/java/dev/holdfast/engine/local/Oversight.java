package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.Outbox;
import dev.holdfast.engine.session.Auditor;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.Caller;
import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** What is looked after at a gate from time to time, beside the requests: audits, dead owners, doubts, the end. */
final class Oversight {

    private Oversight() {}

    /** Compares what the store has with what a gate believes: see {@link Auditor}. */
    static void audit(Gate gate, SessionUser.Audit audit) {
        gate.step(out -> {
            gate.standing.addRefs(audit.known());
            gate.standing.lookAfterClaims(audit.session(), audit.quietBefore(), out);
            gate.lost.addRefs(audit.known());
            for (LocalClaim held : gate.standing.allGrants()) {
                if (held.session == audit.session()
                        && held.state == Claim.State.HELD
                        && held.underWay == 0
                        && held.settledAt - audit.startedAt() < 0
                        && !audit.present().contains(held.ref)) {
                    gate.lose(held, Loss.Cause.REMOVED, out);
                    gate.pursue(out);
                }
            }
            gate.tidy();
        });
    }

    /** Whether a claim is one of a gate's. */
    static boolean knows(Gate gate, ClaimRef ref) {
        Set<ClaimRef> known = new HashSet<>();
        gate.step(out -> {
            gate.standing.addRefs(known);
            gate.lost.addRefs(known);
        });
        return known.contains(ref);
    }

    /** The session was renewed: what waited for the end of a doubt goes on, and a lease of its own is asked after. */
    static void goOnAfterDoubt(Gate gate) {
        LocalHold live = gate.current;
        if (live != null && live.grant.own == null) {
            return;
        }
        List<LocalClaim> doubtful = new ArrayList<>();
        gate.step(out -> {
            gate.react(out);
            for (LocalClaim held : gate.standing.allGrants()) {
                if (held.own != null && !held.isIdle()) {
                    doubtful.add(held);
                }
            }
        });
        doubtful.forEach(gate.part.validity::resolveDoubt);
    }

    /**
     * Looks for owners that are threads and have died: their hold is lost, or nobody is left to close a lost one. Also
     * drops lost holds without an owner once they are over at the store.
     */
    static void checkOwners(Gate gate) {
        LocalHold hold = gate.current;
        if (hold == null ? gate.isShared() : isOrphan(hold)) {
            gate.step(out -> {
                for (LocalClaim held : gate.standing.allGrants()) {
                    held.holds().stream().filter(Oversight::isOrphan).forEach(orphan -> ownerDied(gate, orphan, out));
                }
                gate.react(out);
            });
        }
        if (!gate.lost.isEmpty()) {
            gate.step(out -> {
                for (LocalHold orphan = gate.lost.ofTheDead(); orphan != null; orphan = gate.lost.ofTheDead()) {
                    gate.forgetLost(orphan, out);
                }
                gate.lost = gate.lost.withoutEnded(gate.part.context.clock().now());
                gate.pursue(out);
                gate.tidy();
            });
        }
    }

    private static boolean isOrphan(LocalHold hold) {
        return hold.owner != null && !hold.owner.isAlive();
    }

    /** Nobody is left to release this hold; but one that is to last, whoever lives, goes on. */
    private static void ownerDied(Gate gate, LocalHold orphan, Outbox out) {
        LocalClaim held = orphan.grant;
        if (held.state == Claim.State.HELD && !held.isDetached()) {
            gate.lose(orphan, Loss.Cause.OWNER_DIED, out);
            if (held.isIdle()) {
                gate.standing.giveBack(held, Caller.GOES_ON, null, out);
            }
        }
    }

    /** The client is closed: all that waits fails, what is held is lost. */
    static void shut(Gate gate, Supplier<RuntimeException> why) {
        gate.failWaiting(why);
        List<LocalClaim> grants = new ArrayList<>();
        gate.step(out -> grants.addAll(gate.standing.allGrants()));
        grants.forEach(held -> gate.end(held, Loss.Cause.CLIENT_CLOSED));
    }
}
