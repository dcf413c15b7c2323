package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** The reference store on a clock of the test's. */
final class ReferenceSubject implements StoreUnderTest {

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final ReferenceStore first;
    private final ReferenceStore second;

    ReferenceSubject() {
        this(1);
    }

    ReferenceSubject(int parts) {
        this.first = new ReferenceStore(micros::get, parts);
        this.second = first.connect();
    }

    @Override
    public LockStore first() {
        return first;
    }

    @Override
    public LockStore second() {
        return second;
    }

    @Override
    public Optional<ManualClock> clock() {
        return Optional.of(by -> micros.addAndGet(by.toNanos() / 1_000));
    }

    @Override
    public boolean forgetIdle() {
        // It remembers the newest 65,536; those are not the test's any more after this.
        Client passerBy = Client.open(first, Duration.ofHours(1), "passer-by");
        for (int i = 0; i < 65_536; i++) {
            passerBy.mutex("passing-" + i).expectGranted().release();
        }
        passerBy.close();
        return true;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
