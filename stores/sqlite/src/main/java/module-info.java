/** Locks in a SQLite file. */
// The command is built later.
@SuppressWarnings("module")
module dev.holdfast.store.sqlite {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires dev.holdfast.store.ledger;
    requires transitive java.sql;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;

    exports dev.holdfast.store.sqlite;
    exports dev.holdfast.store.sqlite.process to
            dev.holdfast.cli;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.sqlite.SqliteStoreProvider;
}
