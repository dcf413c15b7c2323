package dev.holdfast.engine.local;

import dev.holdfast.spi.ClaimRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The holds of a resource that were lost and that their owners have not closed. Each is added and removed in the same
 * time however many there are: all permits of a process may be lost at once. Guarded by the lock of the resource.
 */
final class LostHolds {

    /** Of all resources without any, which are almost all. Never added to. */
    static final LostHolds NONE = new LostHolds();

    /** By their owners: see {@link OwnedHold#key()}. Oldest first. */
    private final Map<Object, LocalHold> holds = new LinkedHashMap<>();

    /** How many there are under each grant. */
    private final Map<LocalGrant, Integer> counts = new HashMap<>();

    boolean isEmpty() {
        return holds.isEmpty();
    }

    /** These, or new ones if these are none. */
    LostHolds orNew() {
        return this == NONE ? new LostHolds() : this;
    }

    /** These, or none if they are empty. */
    LostHolds orNone() {
        return isEmpty() ? NONE : this;
    }

    void add(LocalHold hold) {
        if (holds.put(hold.key(), hold) != hold) {
            counts.merge(hold.grant, 1, Integer::sum);
        }
    }

    void remove(LocalHold hold) {
        if (holds.remove(hold.key(), hold)) {
            counts.computeIfPresent(hold.grant, (grant, count) -> count == 1 ? null : count - 1);
        }
    }

    /** The lost hold of a thread; null if it has none, and for no thread. */
    @Nullable
    LocalHold of(@Nullable Thread owner) {
        return owner == null ? null : holds.get(owner);
    }

    /** The lost holds whose owners are threads that have died. */
    List<LocalHold> ofTheDead() {
        return holds.values().stream()
                .filter(hold -> hold.owner != null && !hold.owner.isAlive())
                .toList();
    }

    /** Removes those that own themselves and have nothing left at the store: nobody has to close such a hold. */
    void removeEnded(long now) {
        for (LocalHold hold : new ArrayList<>(holds.values())) {
            if (hold.owner == null && hold.hasEndedAtStore(now)) {
                remove(hold);
            }
        }
    }

    /** Whether there is one under a grant. */
    boolean hasUnder(LocalGrant grant) {
        return counts.containsKey(grant);
    }

    void addRefs(Set<ClaimRef> refs) {
        counts.keySet().forEach(grant -> refs.add(grant.ref));
    }
}
