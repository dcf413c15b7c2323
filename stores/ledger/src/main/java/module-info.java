/** What the stores on SQL databases have in common: leases in tables. Nothing here is for users. */
// Whom it is exported to is built after it.
@SuppressWarnings("module")
module dev.holdfast.store.ledger {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive java.sql;
    requires org.slf4j;

    exports dev.holdfast.store.ledger to
            dev.holdfast.store.jdbc,
            dev.holdfast.store.sqlite;
    exports dev.holdfast.store.ledger.runtime to
            dev.holdfast.store.jdbc,
            dev.holdfast.store.sqlite;
    exports dev.holdfast.store.ledger.table to
            dev.holdfast.store.jdbc,
            dev.holdfast.store.sqlite;
}
