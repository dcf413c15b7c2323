package dev.holdfast.testkit;

import dev.holdfast.spi.LockStore;

/** A store under test with two connections, which it closes. */
abstract class TwoConnections implements StoreUnderTest {

    private final LockStore first;
    private final LockStore second;

    TwoConnections(LockStore first, LockStore second) {
        this.first = first;
        this.second = second;
    }

    @Override
    public final LockStore first() {
        return first;
    }

    @Override
    public final LockStore second() {
        return second;
    }

    @Override
    public void close() {
        first.close();
        second.close();
    }
}
