package dev.holdfast.engine;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a gate that were lost and that their owners have not closed. Empty almost always. Guarded by the lock of
 * the gate.
 */
final class LostHolds {

    private @Nullable List<LocalHold> holds;

    boolean isEmpty() {
        return holds == null;
    }

    void add(LocalHold hold) {
        if (holds == null) {
            holds = new ArrayList<>(1);
        }
        holds.add(hold);
    }

    void remove(LocalHold hold) {
        if (holds != null && holds.remove(hold) && holds.isEmpty()) {
            holds = null;
        }
    }

    /** The lost hold of a thread; null if it has none, and for no thread. */
    @Nullable
    LocalHold of(@Nullable Thread owner) {
        if (holds != null && owner != null) {
            for (LocalHold hold : holds) {
                if (hold.owner == owner) {
                    return hold;
                }
            }
        }
        return null;
    }

    /** The lost hold under a grant; null if there is none. */
    @Nullable
    LocalHold under(Claim grant) {
        if (holds != null) {
            for (LocalHold hold : holds) {
                if (hold.grant == grant) {
                    return hold;
                }
            }
        }
        return null;
    }

    void addRefs(Set<ClaimRef> refs) {
        if (holds != null) {
            holds.forEach(hold -> refs.add(hold.grant.ref));
        }
    }
}
