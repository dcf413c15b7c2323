package dev.holdfast.testkit;

/** The specification passes its own tests, on a clock that the tests move. */
class ReferenceStoreConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new ReferenceSubject();
    }
}
