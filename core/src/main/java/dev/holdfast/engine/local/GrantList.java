package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The grants of a resource, the idle ones first; linked through the claims themselves. Most resources have one, a
 * semaphore may have thousands. Guarded by the lock of the resource.
 *
 * <p>{@link ResourceClaims} is made of it rather than refers to it, so that a held lock weighs an object less.
 */
abstract class GrantList {

    private @Nullable LocalGrant first;
    private @Nullable LocalGrant last;

    /** Whether nothing is passed on here. */
    boolean isWithoutGrants() {
        return first == null;
    }

    /** The first grant; an idle one if any is. */
    @Nullable
    LocalGrant firstGrant() {
        return first;
    }

    boolean hasGrant(LocalGrant grant) {
        return grant == first || grant.previousGrant != null;
    }

    /** Takes a grant that nobody holds yet. */
    void addGrant(LocalGrant grant) {
        grant.previousGrant = null;
        grant.nextGrant = first;
        if (first == null) {
            last = grant;
        } else {
            first.previousGrant = grant;
        }
        first = grant;
    }

    void removeGrant(LocalGrant grant) {
        if (!hasGrant(grant)) {
            return;
        }
        LocalGrant before = grant.previousGrant;
        LocalGrant after = grant.nextGrant;
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
    void toTheEnd(LocalGrant grant) {
        if (grant == last) {
            return;
        }
        removeGrant(grant);
        LocalGrant before = last;
        grant.previousGrant = before;
        if (before == null) {
            first = grant;
        } else {
            before.nextGrant = grant;
        }
        last = grant;
    }

    /** A grant is not in use any more. */
    void toTheFront(LocalGrant grant) {
        if (grant != first) {
            removeGrant(grant);
            addGrant(grant);
        }
    }

    /** The grant of this identity, if it is here. */
    @Nullable
    LocalGrant find(ClaimRef ref) {
        for (LocalGrant grant = first; grant != null; grant = grant.nextGrant) {
            if (grant.ref.equals(ref)) {
                return grant;
            }
        }
        return null;
    }

    /** All of them, to go through while they change. */
    List<LocalGrant> allGrants() {
        List<LocalGrant> all = new ArrayList<>();
        for (LocalGrant grant = first; grant != null; grant = grant.nextGrant) {
            all.add(grant);
        }
        return all;
    }

    void addRefs(Set<ClaimRef> refs) {
        for (LocalGrant grant = first; grant != null; grant = grant.nextGrant) {
            refs.add(grant.ref);
        }
    }
}
