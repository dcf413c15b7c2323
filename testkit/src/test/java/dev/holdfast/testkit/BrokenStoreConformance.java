package dev.holdfast.testkit;

import java.util.function.Supplier;

/** The kit as {@link BrokenStoresTest} runs it; not run for itself. */
class BrokenStoreConformance extends LockStoreConformance {

    /** What to test; set by the one test that runs this class. */
    static Supplier<StoreUnderTest> opener = () -> {
        throw new IllegalStateException("Nothing to test");
    };

    @Override
    protected StoreUnderTest open() {
        return opener.get();
    }
}
