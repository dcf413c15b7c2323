package dev.holdfast.testkit;

import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** The reference store, on a clock that the test moves. */
final class ReferenceSubject extends TwoConnections {

    private final AtomicLong micros;

    ReferenceSubject() {
        this(1);
    }

    ReferenceSubject(int parts) {
        this(new AtomicLong(1_750_000_000_000_000L), parts);
    }

    private ReferenceSubject(AtomicLong micros, int parts) {
        this(micros, new ReferenceStore(micros::get, parts));
    }

    private ReferenceSubject(AtomicLong micros, ReferenceStore store) {
        super(store, store.connect());
        this.micros = micros;
    }

    @Override
    public Optional<ManualClock> clock() {
        return Optional.of(by -> micros.addAndGet(by.toNanos() / 1_000));
    }

    @Override
    public boolean forgetIdle() {
        // The store keeps the newest 65,536 idle resources; afterwards none of them is the test's.
        TestClient other = TestClient.open(first(), Duration.ofHours(1), "passer-by");
        for (int i = 0; i < 65_536; i++) {
            other.mutex("passing-" + i).expectGranted().release();
        }
        other.close();
        return true;
    }
}
