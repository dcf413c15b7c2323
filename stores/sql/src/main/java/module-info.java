/** Stores on relational databases. */
// The driver is a module by its name only.
@SuppressWarnings("requires-automatic")
module dev.holdfast.store.sql {
    requires static transitive com.google.errorprone.annotations;
    requires static transitive org.jspecify;
    requires transitive dev.holdfast;
    requires transitive java.sql;
    requires static org.postgresql.jdbc;
    requires org.slf4j;
    requires org.xerial.sqlitejdbc;

    exports dev.holdfast.store.sql;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.sql.SqliteStoreProvider,
            dev.holdfast.store.sql.JdbcStoreProvider;
}
