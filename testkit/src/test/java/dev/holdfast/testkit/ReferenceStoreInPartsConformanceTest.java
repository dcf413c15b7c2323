package dev.holdfast.testkit;

/** The specification with its sessions in parts, on a clock that the tests move. */
class ReferenceStoreInPartsConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new ReferenceSubject(5);
    }
}
