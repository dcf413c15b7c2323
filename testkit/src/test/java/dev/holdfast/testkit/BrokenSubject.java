package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A reference store that was compiled from changed source, on a clock of the test's. */
final class BrokenSubject implements StoreUnderTest {

    /** Broken stores forget after fewer, so that a test need not use so many names. */
    private static final int RESTING = 64;

    static final Mutant FORGETFUL =
            Mutant.of("forgets early", "none").inState("MAX_IDLE = 65_536;", "MAX_IDLE = " + RESTING + ";");

    private final AtomicLong micros = new AtomicLong(1_750_000_000_000_000L);
    private final LockStore first;
    private final LockStore second;

    /** Makes one of a class that {@link BrokenCompiler} has made. */
    BrokenSubject(Class<?> store, int parts) {
        try {
            LongSupplier clock = micros::get;
            first = (LockStore)
                    store.getConstructor(LongSupplier.class, int.class).newInstance(clock, parts);
            second = (LockStore) store.getMethod("connect").invoke(first);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
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
    public Duration timeout() {
        return Duration.ofSeconds(3);
    }

    @Override
    public boolean forgetIdle() {
        TestClient passerBy = TestClient.open(first, Duration.ofHours(1), "passer-by");
        for (int i = 0; i < RESTING; i++) {
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
