package dev.holdfast.store.register.client;

import dev.holdfast.store.register.RegisterTraits;
import dev.holdfast.testkit.LockStoreConformance;
import dev.holdfast.testkit.StoreUnderTest;

/** The rules of every store, on a server with a clock. */
class RegisterConformanceTest extends LockStoreConformance {

    @Override
    protected StoreUnderTest open() {
        return new RegisterUnderTest(RegisterTraits.Clock.WALL);
    }
}
