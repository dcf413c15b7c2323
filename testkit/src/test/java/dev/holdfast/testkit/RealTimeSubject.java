package dev.holdfast.testkit;

import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;

/** The reference store as real stores are tested: the clock can't be moved, so short leases end in real time. */
final class RealTimeSubject extends TwoConnections {

    private final Duration shortTtl;

    RealTimeSubject(Duration shortTtl) {
        this(new ReferenceStore(), shortTtl);
    }

    private RealTimeSubject(ReferenceStore store, Duration shortTtl) {
        super(store, store.connect());
        this.shortTtl = shortTtl;
    }

    @Override
    public Duration shortTtl() {
        return shortTtl;
    }
}
