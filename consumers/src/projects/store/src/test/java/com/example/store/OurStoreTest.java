package com.example.store;

import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

class OurStoreTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new OurStoreUnderTest();
    }
}
