package dev.holdfast.store.sql;

import dev.holdfast.spi.Command.Acquire;

/** What acquires that go by one statement have in common. */
record Alike(long session, long epoch, long spec, int weight, long lease, int tokens) {

    static Alike of(Acquire acquire) {
        return new Alike(
                Session.numberOf(acquire.claim().session()),
                acquire.epoch(),
                Codes.of(acquire.spec()),
                acquire.weight(),
                Micros.of(acquire.lease().length()),
                acquire.tokens());
    }
}
