package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The grants of a gate, the idle ones first; linked through the claims themselves. Most gates have one, a semaphore may
 * have thousands. Guarded by the lock of the gate.
 *
 * <p>The standing of a gate is made of them, so that a held lock weighs an object less.
 */
abstract class Grants {

    private @Nullable Claim first;
    private @Nullable Claim last;

    /** Whether nothing is passed on here. */
    boolean isWithoutGrants() {
        return first == null;
    }

    /** The first grant; an idle one if any is. */
    @Nullable
    Claim firstGrant() {
        return first;
    }

    boolean hasGrant(Claim grant) {
        return grant == first || grant.previousGrant != null;
    }

    /** Takes a grant that nobody holds yet. */
    void addGrant(Claim grant) {
        grant.previousGrant = null;
        grant.nextGrant = first;
        if (first == null) {
            last = grant;
        } else {
            first.previousGrant = grant;
        }
        first = grant;
    }

    void removeGrant(Claim grant) {
        if (!hasGrant(grant)) {
            return;
        }
        Claim before = grant.previousGrant;
        Claim after = grant.nextGrant;
        if (before == null) {
            first = after;
        } else {
            before.nextGrant = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previousGrant = before;
        }
        grant.previousGrant = null;
        grant.nextGrant = null;
    }

    /** A grant is in use now. */
    void toTheEnd(Claim grant) {
        if (grant == last) {
            return;
        }
        removeGrant(grant);
        Claim before = last;
        grant.previousGrant = before;
        if (before == null) {
            first = grant;
        } else {
            before.nextGrant = grant;
        }
        last = grant;
    }

    /** A grant is not in use any more. */
    void toTheFront(Claim grant) {
        if (grant != first) {
            removeGrant(grant);
            addGrant(grant);
        }
    }

    /** The grant of this identity, if it is here. */
    @Nullable
    Claim find(ClaimRef ref) {
        for (Claim grant = first; grant != null; grant = grant.nextGrant) {
            if (grant.ref.equals(ref)) {
                return grant;
            }
        }
        return null;
    }

    /** All of them, to go through while they change. */
    List<Claim> allGrants() {
        List<Claim> all = new ArrayList<>();
        for (Claim grant = first; grant != null; grant = grant.nextGrant) {
            all.add(grant);
        }
        return all;
    }

    void addRefs(Set<ClaimRef> refs) {
        for (Claim grant = first; grant != null; grant = grant.nextGrant) {
            refs.add(grant.ref);
        }
    }
}
