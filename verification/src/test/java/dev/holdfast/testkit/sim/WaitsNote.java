package dev.holdfast.testkit.sim;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The annotation of a grant, as its client sends it: one command at a time, and the newest text after a reply. */
final class WaitsNote {

    private final WaitsStore.Claim claim;
    private Map<Object, String> lines = Map.of();
    private @Nullable List<String> stored = List.of();
    private boolean isInFlight;
    private long seq;

    WaitsNote(WaitsStore.Claim claim) {
        this.claim = claim;
    }

    void set(Map<Object, String> lines) {
        this.lines = lines;
        send();
    }

    /** Removes the line of a wait. */
    void remove(Object wait) {
        if (lines.containsKey(wait)) {
            Map<Object, String> left = new LinkedHashMap<>(lines);
            left.remove(wait);
            set(left);
        }
    }

    boolean isEmpty() {
        return lines.isEmpty();
    }

    /** Whether the store has something else than it has confirmed. */
    boolean isStale(List<String> atStore) {
        return !isInFlight && stored != null && !stored.equals(atStore);
    }

    private void send() {
        List<String> text = List.copyOf(lines.values());
        WaitsClient client = claim.client;
        if (isInFlight || text.equals(stored) || !client.isHeld(claim)) {
            return;
        }
        isInFlight = true;
        long number = ++seq;
        var unused = client.ask(() -> client.store().annotate(claim, number, text))
                .whenComplete((isDone, failure) -> {
                    isInFlight = false;
                    stored = failure == null ? text : null;
                    if (!List.copyOf(lines.values()).equals(text)) {
                        send();
                    }
                });
    }
}
