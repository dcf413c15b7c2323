package dev.holdfast.testkit;

import java.util.function.Supplier;

/** The kit as {@link BrokenStoresTest} runs it; not run for itself. */
class BrokenStoreConformance extends LockStoreConformance {

    /** What to test on this thread; set by the one test that runs this class. */
    static final ThreadLocal<Supplier<StoreUnderTest>> OPENER = ThreadLocal.withInitial(() -> () -> {
        throw new IllegalStateException("Nothing to test");
    });

    @Override
    protected StoreUnderTest open() {
        return OPENER.get().get();
    }
}
