package dev.holdfast.store.memory;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.holdfast.spi.ClaimRef;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Some claims of one resource, by identity, in the order in which they were added. Nearly always there is one or none,
 * so only more than one take a map.
 */
final class Claims {

    private @Nullable MemoryClaim only;

    /** All claims; null unless there has been more than one since there was none. */
    private @Nullable Map<ClaimRef, MemoryClaim> several;

    void put(ClaimRef ref, MemoryClaim claim) {
        MemoryClaim first = only;
        Map<ClaimRef, MemoryClaim> map = several;
        if (map == null && (first == null || first.ref.equals(ref))) {
            only = claim;
            return;
        }
        if (map == null) {
            map = new LinkedHashMap<>();
            several = map;
        }
        if (first != null) {
            map.put(first.ref, first);
            only = null;
        }
        map.put(ref, claim);
    }

    @Nullable
    MemoryClaim get(ClaimRef ref) {
        if (several != null) {
            return several.get(ref);
        }
        return only != null && only.ref.equals(ref) ? only : null;
    }

    /** Removes a claim, and returns it; null if it is not here. */
    @CanIgnoreReturnValue
    @Nullable
    MemoryClaim remove(ClaimRef ref) {
        MemoryClaim present = get(ref);
        if (present == null) {
            return null;
        }
        if (several == null) {
            only = null;
        } else if (several.size() == 1) {
            several = null;
        } else {
            several.remove(ref);
        }
        return present;
    }

    void clear() {
        only = null;
        several = null;
    }

    int size() {
        return values().size();
    }

    boolean isEmpty() {
        return only == null && several == null;
    }

    /** The claims, oldest first; changes with this object only as long as there are several. */
    Collection<MemoryClaim> values() {
        if (several != null) {
            return several.values();
        }
        return only == null ? List.of() : List.of(only);
    }
}
