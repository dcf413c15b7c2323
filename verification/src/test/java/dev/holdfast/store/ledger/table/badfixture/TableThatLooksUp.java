package dev.holdfast.store.ledger.table.badfixture;

import dev.holdfast.store.ledger.Ledger;

/** Breaks the rule of the packages on SQL databases, to show that it can fail. */
public abstract class TableThatLooksUp {

    /** A package above its own. */
    public abstract Ledger upwards();
}
