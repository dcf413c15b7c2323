package dev.holdfast.engine.local;

import dev.holdfast.Loss;
import dev.holdfast.engine.execution.DeferredActions;
import dev.holdfast.engine.session.Auditor;
import dev.holdfast.engine.session.Claim;
import dev.holdfast.engine.session.SessionUser;
import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** What is looked after at a resource from time to time, beside the requests: audits, dead owners, doubts, the end. */
final class ResourceMaintenance {

    private ResourceMaintenance() {}

    /** Compares what the store has with what a resource believes: see {@link Auditor}. */
    static void audit(LocalSynchronizer resource, SessionUser.Audit audit) {
        resource.step(out -> {
            resource.claims.addRefs(audit.known());
            resource.claims.lookAfterClaims(audit.session(), audit.quietBefore(), out);
            resource.lost.addRefs(audit.known());
            for (LocalGrant held : resource.claims.allGrants()) {
                if (held.session == audit.session()
                        && held.state == Claim.State.HELD
                        && held.underWay == 0
                        && held.settledAt - audit.startedAt() < 0
                        && !audit.present().contains(held.ref)) {
                    HoldRelease.lose(resource, held, Loss.Cause.REMOVED, out);
                    resource.pursue(out);
                }
            }
            resource.tidy();
        });
    }

    /** Whether a claim is one of a resource's. */
    static boolean knows(LocalSynchronizer resource, ClaimRef ref) {
        Set<ClaimRef> known = new HashSet<>();
        resource.step(out -> {
            resource.claims.addRefs(known);
            resource.lost.addRefs(known);
        });
        return known.contains(ref);
    }

    /** The session was renewed: what waited for the end of a doubt goes on, and a lease of its own is asked after. */
    static void goOnAfterDoubt(LocalSynchronizer resource) {
        LocalHold live = resource.current;
        if (live != null && live.grant.own == null) {
            return;
        }
        List<LocalGrant> doubtful = new ArrayList<>();
        resource.step(out -> {
            resource.react(out);
            for (LocalGrant held : resource.claims.allGrants()) {
                if (held.own != null && !held.isIdle()) {
                    doubtful.add(held);
                }
            }
        });
        doubtful.forEach(resource.partition.validity::resolveDoubt);
    }

    /**
     * Looks for owners that are threads and have died: their hold is lost, or nobody is left to close a lost one. Also
     * drops lost holds without an owner once they are over at the store.
     */
    static void checkOwners(LocalSynchronizer resource) {
        LocalHold hold = resource.current;
        if (hold == null ? resource.policy.isShared() : isOrphan(hold)) {
            resource.step(out -> {
                for (LocalGrant held : resource.claims.allGrants()) {
                    held.holds().stream()
                            .filter(ResourceMaintenance::isOrphan)
                            .forEach(orphan -> ownerDied(resource, orphan, out));
                }
                resource.react(out);
            });
        }
        if (!resource.lost.isEmpty()) {
            resource.step(out -> {
                for (LocalHold orphan : resource.lost.ofTheDead()) {
                    HoldRelease.forgetLost(resource, orphan, null, out);
                }
                resource.lost.removeEnded(resource.partition.context.clock().now());
                resource.lost = resource.lost.orNone();
                resource.pursue(out);
                resource.tidy();
            });
        }
    }

    private static boolean isOrphan(LocalHold hold) {
        return hold.owner != null && !hold.owner.isAlive();
    }

    /** Nobody is left to release this hold; but one that is to last, whoever lives, goes on. */
    private static void ownerDied(LocalSynchronizer resource, LocalHold orphan, DeferredActions out) {
        LocalGrant held = orphan.grant;
        if (held.state == Claim.State.HELD && !held.isDetached()) {
            HoldRelease.lose(resource, orphan, Loss.Cause.OWNER_DIED, out);
            if (held.isIdle()) {
                resource.claims.giveBack(held, out);
            }
        }
    }

    /** The client is closed: all that waits fails, what is held is lost. */
    static void shut(LocalSynchronizer resource, Supplier<RuntimeException> why) {
        RequestCancellation.failAll(resource, why);
        List<LocalGrant> grants = new ArrayList<>();
        resource.step(out -> grants.addAll(resource.claims.allGrants()));
        grants.forEach(held -> resource.end(held, Loss.Cause.CLIENT_CLOSED));
    }
}
