package com.example.kit;

import dev.holdfast.spi.LockStore;
import dev.holdfast.store.memory.ReferenceStore;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

class MemoryTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new Memory();
    }

    private static final class Memory implements StoreUnderTest {

        private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
        private final ReferenceStore first = new ReferenceStore(micros::get);
        private final ReferenceStore second = first.connect();

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
        public int randomRuns() {
            return 5;
        }

        @Override
        public void close() {
            first.close();
            second.close();
        }
    }
}
