package dev.holdfast.testkit;

/** The kit on a store whose sessions are limited in length, and belong to connections. */
class LimitedStoreConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new LimitedSubject(true, false);
    }
}
