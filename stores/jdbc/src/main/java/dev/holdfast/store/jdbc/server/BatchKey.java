package dev.holdfast.store.jdbc.server;

import dev.holdfast.spi.Command.Acquire;
import dev.holdfast.spi.support.Micros;
import dev.holdfast.store.ledger.table.ColumnCodes;
import dev.holdfast.store.ledger.table.SessionRow;

/** The parameters that acquires must have in common to share one statement. */
public record BatchKey(long session, long epoch, long spec, int weight, long lease, int tokens) {

    public static BatchKey of(Acquire acquire) {
        return new BatchKey(
                SessionRow.numberOf(acquire.claim().session()),
                acquire.epoch(),
                ColumnCodes.of(acquire.spec()),
                acquire.weight(),
                Micros.of(acquire.lease().length()),
                acquire.tokens());
    }
}
