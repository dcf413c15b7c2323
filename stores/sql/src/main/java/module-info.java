/** Stores on relational databases, and what takes part in a program's own transactions. */
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

    exports dev.holdfast.sql.rows;
    exports dev.holdfast.store.jdbc;
    exports dev.holdfast.store.jdbc.postgres to
            org.postgresql.jdbc;
    exports dev.holdfast.store.sqlite;

    provides dev.holdfast.spi.StoreProvider with
            dev.holdfast.store.sqlite.SqliteStoreProvider,
            dev.holdfast.store.jdbc.JdbcStoreProvider;
}
