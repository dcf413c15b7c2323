/** Stores on relational databases. */
module dev.holdfast.store.sql {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive java.sql;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;

    exports dev.holdfast.store.sql;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.sql.SqliteStoreProvider;
}
