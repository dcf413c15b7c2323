package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The lost holds of a resource that their owners have not closed. Adding and removing takes constant time: all permits
 * of a process may be lost at once. Guarded by the lock of the resource.
 */
final class LostHolds {

    /** By owner, see {@link LocalHold#key()}; oldest first. */
    private final Map<Object, LocalHold> holds = new LinkedHashMap<>();

    /** How many there are under each grant. */
    private final Map<Grant, Integer> counts = new HashMap<>();

    boolean isEmpty() {
        return holds.isEmpty();
    }

    void add(LocalHold hold) {
        if (holds.put(hold.key(), hold) != hold) {
            counts.merge(hold.grant(), 1, Integer::sum);
        }
    }

    void remove(LocalHold hold) {
        if (holds.remove(hold.key(), hold)) {
            counts.computeIfPresent(hold.grant(), (grant, count) -> count == 1 ? null : count - 1);
        }
    }

    /** The lost hold of a thread; null if it has none, or if there is no thread. */
    @Nullable
    LocalHold of(@Nullable Thread owner) {
        return owner == null ? null : holds.get(owner);
    }

    /** The lost holds whose owners are threads that have died. */
    List<LocalHold> ofTheDead() {
        return holds.values().stream().filter(LocalHold::isOrphan).toList();
    }

    /** Removes the holds that own themselves and have ended at the store: those need not be closed. */
    void removeEnded(long now) {
        for (LocalHold hold : new ArrayList<>(holds.values())) {
            if (hold.owner == null && hold.hasEndedAtStore(now)) {
                remove(hold);
            }
        }
    }

    /** Whether there is one under a grant. */
    boolean hasUnder(Grant grant) {
        return counts.containsKey(grant);
    }

    boolean has(ClaimRef ref) {
        return counts.keySet().stream().anyMatch(grant -> grant.claim.is(ref));
    }

    /** Does something with the identity of each grant. */
    void eachRef(Consumer<ClaimRef> action) {
        counts.keySet().forEach(grant -> action.accept(grant.ref()));
    }
}
