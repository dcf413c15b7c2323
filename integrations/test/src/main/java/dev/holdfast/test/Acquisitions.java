package dev.holdfast.test;

import dev.holdfast.AcquisitionListener;
import dev.holdfast.HoldfastListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the acquisitions that wait, by name. Thread-safe. */
final class Acquisitions implements HoldfastListener {

    private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

    int waiting(String name) {
        return waiting.getOrDefault(name, 0);
    }

    @Override
    public AcquisitionListener onRequested(AcquireRequest request) {
        String name = request.name();
        waiting.merge(name, 1, Integer::sum);
        return new AcquisitionListener() {
            @Override
            public void onGranted(long token, GrantSource source) {
                end(name);
            }

            @Override
            public void onNotGranted(WaitEnd how) {
                end(name);
            }
        };
    }

    private void end(String name) {
        waiting.merge(name, -1, Integer::sum);
    }
}
