package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a resource that were lost and that their owners have not closed. Immutable, so that all resources
 * without any, which are almost all, share one.
 */
record LostHolds(List<LocalHold> holds) {

    static final LostHolds NONE = new LostHolds(List.of());

    boolean isEmpty() {
        return holds.isEmpty();
    }

    LostHolds with(List<LocalHold> more) {
        return new LostHolds(Stream.concat(holds.stream(), more.stream()).toList());
    }

    LostHolds without(LocalHold hold) {
        List<LocalHold> rest = holds.stream().filter(other -> other != hold).toList();
        return rest.isEmpty() ? NONE : new LostHolds(rest);
    }

    /** The lost hold of a thread; null if it has none, and for no thread. */
    @Nullable
    LocalHold of(@Nullable Thread owner) {
        if (owner != null) {
            for (LocalHold hold : holds) {
                if (hold.owner == owner) {
                    return hold;
                }
            }
        }
        return null;
    }

    /** A lost hold whose owner is a thread that has died; null if there is none. */
    @Nullable
    LocalHold ofTheDead() {
        for (LocalHold hold : holds) {
            if (hold.owner != null && !hold.owner.isAlive()) {
                return hold;
            }
        }
        return null;
    }

    /** Without those that own themselves and have nothing left at the store: nobody has to close such a hold. */
    LostHolds withoutEnded(long now) {
        List<LocalHold> rest = holds.stream()
                .filter(hold -> hold.owner != null || !hold.hasEndedAtStore(now))
                .toList();
        return rest.isEmpty() ? NONE : rest.size() == holds.size() ? this : new LostHolds(rest);
    }

    /** The lost hold under a grant; null if there is none. */
    @Nullable
    LocalHold under(LocalGrant grant) {
        for (LocalHold hold : holds) {
            if (hold.grant == grant) {
                return hold;
            }
        }
        return null;
    }

    void addRefs(Set<ClaimRef> refs) {
        holds.forEach(hold -> refs.add(hold.grant.ref));
    }
}
